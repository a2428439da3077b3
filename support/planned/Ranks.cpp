//===- Ranks.cpp - Proves that the ranks of a mesh match ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Ranks.h"
#include "support/Text.h"
#include "support/mesh/Layout.h"
#include "support/planned/CollectiveMatching.h"
#include <algorithm>
#include <map>

namespace weir::planned {
namespace {

using Found = std::optional<RanksFault>;

/// What a program has, or an entry of it.
struct Owner {
  uint32_t program;
  std::optional<uint32_t> entry;
  std::string words; ///< "variable", "input of entry 'step'"
};

RanksFault fault(FaultKind kind, const Owner &owner, const std::string &message) {
  return {{kind, message}, owner.program, owner.entry};
}

std::string called(const Owner &owner, const RankTensor &tensor) {
  return concat("the ", owner.words, " '", tensor.name, "'");
}

class Shares {
public:
  explicit Shares(const MeshPrograms &ranks) : ranks(ranks) {}

  /// The tensors of a program beside those of rank 0's.
  Found check(FaultKind others, const Owner &owner, const std::vector<RankTensor> &some,
              const std::vector<RankTensor> &first) {
    auto alike = [](const RankTensor &a, const RankTensor &b) {
      return a.name == b.name && a.element == b.element && a.shape == b.shape;
    };
    auto [one, other] = std::ranges::mismatch(some, first, alike);
    if (one != some.end())
      return fault(others, owner,
                   concat(called(owner, *one), " of rank ", rankOf(owner.program),
                          " is not the one of rank 0"));
    if (other != first.end())
      return fault(
          others, owner,
          concat(called(owner, *other), " of rank 0 is none of rank ", rankOf(owner.program)));
    for (size_t i = 0; i < some.size(); ++i) {
      if (some[i].layout != first[i].layout)
        return fault(FaultKind::otherLayout, owner,
                     concat(called(owner, some[i]), " lies as '", some[i].layout, "' on rank ",
                            rankOf(owner.program), " and as '", first[i].layout, "' on rank 0"));
      if (Found wrong = check(owner, some[i]))
        return wrong;
    }
    return std::nullopt;
  }

  int64_t rankOf(uint32_t program) const {
    return std::ranges::find(ranks.programOf, program) - ranks.programOf.begin();
  }

private:
  /// What the layout gives a rank is what its program has.
  Found check(const Owner &owner, const RankTensor &tensor) {
    std::optional<Layout> layout = tensor.layout.empty() ? Layout::whole(tensor.shape)
                                                         : Layout::parse(tensor.layout, ranks.mesh);
    if (!layout || layout->shape() != tensor.shape || !layout->partial.empty())
      return fault(FaultKind::unknownLayout, owner,
                   concat(called(owner, tensor), " cannot lie as '", tensor.layout, "' on ",
                          ranks.mesh.text()));
    for (const auto &[rank, share] : sharesOf(owner.program, tensor, *layout)) {
      if (tensor.own.size() != share.size())
        return fault(FaultKind::unknownLayout, owner,
                     concat(called(owner, tensor), " cannot lie as '", tensor.layout, "' on ",
                            ranks.mesh.text()));
      for (size_t i = 0; i < share.size(); ++i) {
        if (tensor.own[i] == share[i] && (share[i] > 0 || layout->isElsewhere(ranks.mesh, rank)))
          continue;
        bool more = tensor.own[i] > share[i];
        return fault(more ? FaultKind::sharesOverlap : FaultKind::shareMissing, owner,
                     concat("rank ", rank, " has ", tensor.own[i], " places of ", tensor.shape[i],
                            " along dimension ", i, " of ", called(owner, tensor), ", and ",
                            share[i], " by its layout '", tensor.layout,
                            "': ", more ? "another rank has them too" : "nobody has the others"));
      }
    }
    return std::nullopt;
  }

  /// The different shapes that a layout gives the ranks of a program, each with the first of them.
  /// Programs have few layouts, and many tensors.
  using ByRank = std::vector<std::pair<int64_t, std::vector<int64_t>>>;
  const ByRank &sharesOf(uint32_t program, const RankTensor &tensor, const Layout &layout) {
    auto [found, isNew] = known.try_emplace(
        {program, tensor.layout.empty() ? layout.text(ranks.mesh) : tensor.layout});
    ByRank &shares = found->second;
    for (int64_t rank = 0; isNew && rank < ranks.mesh.ranks(); ++rank) {
      if (ranks.programOf[size_t(rank)] != program)
        continue;
      std::vector<int64_t> shape = layout.shape(ranks.mesh, rank);
      if (std::ranges::none_of(shares, [&](const auto &one) { return one.second == shape; }))
        shares.emplace_back(rank, std::move(shape));
    }
    return shares;
  }

  const MeshPrograms &ranks;
  std::map<std::pair<uint32_t, std::string>, ByRank> known;
};

Found checkTensors(const MeshPrograms &ranks) {
  Shares shares(ranks);
  const RankProgram &first = ranks.programs[ranks.programOf[0]];
  for (uint32_t program = 0; program < ranks.programs.size(); ++program) {
    if (!std::ranges::count(ranks.programOf, program))
      continue;
    const RankProgram &one = ranks.programs[program];
    if (Found wrong = shares.check(FaultKind::otherVariables, {program, std::nullopt, "variable"},
                                   one.variables, first.variables))
      return wrong;
    bool alike =
        std::ranges::equal(one.entries, first.entries, {}, &RankEntry::name, &RankEntry::name);
    if (!alike)
      return fault(FaultKind::otherEntries, {program, std::nullopt, ""},
                   concat("rank ", shares.rankOf(program), " has other entries than rank 0"));
    for (uint32_t i = 0; i < one.entries.size(); ++i) {
      const RankEntry &entry = one.entries[i];
      std::string of = concat(" of entry '", entry.name, "'");
      if (Found wrong = shares.check(FaultKind::otherInputs, {program, i, "input" + of},
                                     entry.inputs, first.entries[i].inputs))
        return wrong;
      if (Found wrong = shares.check(FaultKind::otherResults, {program, i, "result" + of},
                                     entry.results, first.entries[i].results))
        return wrong;
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<RanksFault> verifyRanks(const MeshPrograms &ranks, const Limits &limits) {
  for (int64_t rank = 0; rank < ranks.mesh.ranks(); ++rank)
    if (size_t(rank) >= ranks.programOf.size() ||
        ranks.programOf[size_t(rank)] >= ranks.programs.size())
      return RanksFault{{FaultKind::rankWithoutProgram,
                         concat("rank ", rank, " of ", ranks.mesh.text(), " has no program")}};
  if (Found wrong = checkTensors(ranks))
    return wrong;
  for (uint32_t entry = 0; entry < ranks.programs[ranks.programOf[0]].entries.size(); ++entry)
    if (Found wrong = CollectiveMatching(ranks, entry, limits).check())
      return wrong;
  return std::nullopt;
}

} // namespace weir::planned
