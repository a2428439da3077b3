//===- Replicas.cpp - Checks that replicas are equal ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/Replicas.h"
#include "artifact/Sharding.h"
#include "runtime/checkpoint/Disk.h"
#include "runtime/collectives/Consensus.h"
#include "support/Text.h"
#include "support/mesh/RankPlacement.h"
#include <algorithm>
#include <map>

namespace weir {
namespace {

using RankList = std::vector<int64_t>;

/// The axes along which all ranks have the same of a tensor.
std::vector<unsigned> sameAlong(const Layout &layout, const Mesh &mesh) {
  std::vector<unsigned> axes;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    if (mesh.axes[axis].size > 1 && !layout.isCutOver(axis) &&
        !(layout.only && layout.only->axis == axis))
      axes.push_back(axis);
  return axes;
}

/// The ranks that have a tensor, those with the same share together.
std::vector<RankList> replicasOf(const Layout &layout, const Mesh &mesh) {
  std::vector<unsigned> same = sameAlong(layout, mesh);
  std::map<std::vector<int64_t>, RankList> byShare;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (layout.isElsewhere(mesh, rank))
      continue;
    std::vector<int64_t> share; // its place among the shares
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
      if (std::ranges::find(same, axis) == same.end())
        share.push_back(mesh.coordinate(rank, axis));
    byShare[share].push_back(rank);
  }
  std::vector<RankList> all;
  for (auto &[share, ranks] : byShare)
    all.push_back(std::move(ranks));
  return all;
}

/// Of what each rank that is here has, in the order of ranks: the hash of the hashes of its blocks.
std::vector<int64_t> hashesOf(const TensorView &variable, const RankList &here) {
  std::map<int64_t, std::vector<uint64_t>> blocks;
  variable.readShares([&](int64_t rank, std::span<const std::byte> bytes) {
    blocks[rank].push_back(hashOf(bytes.data(), bytes.size()));
  });
  std::vector<int64_t> hashes;
  for (int64_t rank : here)
    hashes.push_back(int64_t(hashOf(blocks[rank].data(), blocks[rank].size() * sizeof(uint64_t))));
  return hashes;
}

std::string rankNames(const RankList &ranks) {
  std::vector<std::string> numbers;
  for (int64_t rank : ranks)
    numbers.push_back(std::to_string(rank));
  return concat(ranks.size() == 1 ? "rank " : "ranks ", joinFew(numbers));
}

/// In words, which copies of the tensor differ; "" where they are all the same.
std::string differenceOf(const std::string &name, const RankList &ranks,
                         const std::map<int64_t, int64_t> &hashes) {
  std::map<int64_t, RankList> byHash;
  for (int64_t rank : ranks)
    byHash[hashes.at(rank)].push_back(rank);
  if (byHash.size() == 1)
    return "";
  auto most =
      std::ranges::max_element(byHash, {}, [](const auto &one) { return one.second.size(); });
  if (2 * most->second.size() <= ranks.size())
    return concat("the copies of '", name, "' on ", rankNames(ranks), " differ");
  RankList others;
  for (int64_t rank : ranks)
    if (hashes.at(rank) != most->first)
      others.push_back(rank);
  bool isOne = others.size() == 1;
  return concat(isOne ? "the copy of '" : "the copies of '", name, "' on ", rankNames(others),
                isOne ? " differs" : " differ", " from those on ", rankNames(most->second));
}

} // namespace

std::string differingReplicas(const Program &program, Group *group) {
  const artifact::Program &plan = program.plan();
  if (!plan.mesh())
    return "";
  const Mesh mesh = artifact::meshOf(plan), hosts = artifact::hostsOf(plan);
  auto ranksOf = [&](int64_t process) { return hostedBy(group ? hosts : Mesh(), mesh, process); };
  const RankList here = ranksOf(group ? group->rank() : 0);
  std::map<std::string, Layout> layouts;
  for (const artifact::Variable *variable : *plan.variables())
    layouts.emplace(variable->name()->str(), artifact::layoutOf(mesh, *variable));
  std::vector<const TensorView *> replicated;
  std::vector<int64_t> own;
  for (const TensorView &variable : program.variables()) {
    if (sameAlong(layouts.at(variable.name), mesh).empty())
      continue;
    replicated.push_back(&variable);
    std::vector<int64_t> hashes = hashesOf(variable, here);
    own.insert(own.end(), hashes.begin(), hashes.end());
  }
  std::vector<std::vector<int64_t>> all = {own};
  if (group)
    all = collectives::listsFromAll(*group, "the comparison of replicas", own);
  std::string first;
  size_t others = 0;
  for (size_t i = 0; i < replicated.size(); ++i) {
    std::map<int64_t, int64_t> hashes; // by rank
    for (size_t process = 0; process < all.size(); ++process)
      for (size_t at = 0; int64_t rank : ranksOf(int64_t(process)))
        hashes[rank] = all[process][i * here.size() + at++];
    for (const RankList &ranks : replicasOf(layouts.at(replicated[i]->name), mesh))
      if (std::string words = differenceOf(replicated[i]->name, ranks, hashes); !words.empty()) {
        others += !first.empty();
        if (first.empty())
          first = words;
        break;
      }
  }
  return others ? concat(first, ", and so do those of ", others,
                         others == 1 ? " other tensor" : " other tensors")
                : first;
}

} // namespace weir
