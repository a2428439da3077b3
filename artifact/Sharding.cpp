//===- Sharding.cpp - Programs of several ranks ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Sharding.h"
#include "artifact/Actions.h"
#include "artifact/Checker.h"
#include "artifact/Planned.h"
#include "artifact/Reader.h"
#include "support/Text.h"
#include "support/mesh/RankPlacement.h"
#include <algorithm>

namespace weir::artifact {

/// Of a checked program.
static Mesh meshIn(const flatbuffers::String *text) {
  return text ? std::get<Mesh>(Mesh::parse(text->string_view())) : Mesh();
}

Mesh meshOf(const Program &program) { return meshIn(program.mesh()); }

Mesh hostsOf(const Program &program) {
  return meshIn(program.hosts() ? program.hosts() : program.mesh());
}

bool ownSize(const Program &program, DType dtype, const flatbuffers::Vector<int64_t> &shape,
             const flatbuffers::String *layout, uint64_t &size) {
  if (!tensorSize(dtype, shape, size))
    return false;
  if (!layout)
    return true;
  Mesh mesh = meshOf(program);
  std::optional<Layout> lies = Layout::parse(layout->string_view(), mesh);
  if (!lies || !lies->partial.empty() || !std::ranges::equal(lies->shape(), shape))
    return false;
  size = sizeOf(elementOf(dtype));
  for (int64_t own : lies->shape(mesh, int64_t(program.rank())))
    size *= uint64_t(own);
  return size > 0 || lies->isElsewhere(mesh, int64_t(program.rank()));
}

spec::Exchange exchangeOf(const Collective &collective) {
  return {spec::CollectiveKind(collective.kind()),
          {collective.bytes()->begin(), collective.bytes()->end()},
          collective.own()};
}

uint64_t receivedIn(const Collective &collective) { return exchangeOf(collective).received(); }

const Program &programOf(const Program &program, int64_t rank) {
  uint32_t number = program.program_of() ? program.program_of()->Get(uint32_t(rank)) : 0;
  return number ? *program.others()->Get(number - 1) : program;
}

std::vector<const Program *> programsOf(const Program &program) {
  std::vector<const Program *> all = {&program};
  if (program.others())
    all.insert(all.end(), program.others()->begin(), program.others()->end());
  return all;
}

namespace {

void requireAt(bool holds, const std::string &where, const std::string &what) {
  if (!holds)
    reject(where, what);
}

bool sameText(const flatbuffers::String *a, const flatbuffers::String *b) {
  return (a ? a->string_view() : "") == (b ? b->string_view() : "");
}

} // namespace

void ProgramChecker::checkMesh() {
  if (!program.mesh()) {
    requireAt(!program.rank() && !program.others() && !program.program_of() && !program.hosts(),
              "mesh", "it has several ranks and no mesh");
    return;
  }
  auto checked = [&](const flatbuffers::String *text, const char *where) {
    auto parsed = Mesh::parse(text->string_view());
    if (auto *wrong = std::get_if<std::string>(&parsed))
      reject(where, *wrong);
    return std::get<Mesh>(parsed);
  };
  const Mesh mesh = checked(program.mesh(), "mesh");
  if (program.hosts()) {
    std::string wrong = wrongHosts(checked(program.hosts(), "hosts"), mesh);
    requireAt(wrong.empty(), "hosts", wrong);
  }
  uint64_t ranks = uint64_t(mesh.ranks());
  requireAt(program.rank() < ranks, "mesh", concat("there is no rank ", program.rank()));
  uint32_t others = program.others() ? program.others()->size() : 0;
  requireAt(others < ranks, "mesh", "it has more programs than ranks");
  requireAt(!program.program_of() || program.program_of()->size() == ranks, "mesh",
            concat("it has ", ranks, " ranks, and not of each which program it runs"));
  requireAt(others == 0 || program.program_of(), "mesh", "nobody runs its other programs");
  if (program.program_of())
    for (uint32_t number : *program.program_of())
      requireAt(number <= others, "mesh", "a rank runs a program that is not there");
  for (uint32_t number = 1; number <= others; ++number)
    requireAt(std::ranges::find(*program.program_of(), number) != program.program_of()->end(),
              "mesh", concat("nobody runs its program ", number));
}

/// The other programs, each as if it were alone.
void ProgramChecker::checkOthers() {
  if (program.others())
    for (const Program *other : *program.others()) {
      requireAt(sameText(other->mesh(), program.mesh()) &&
                    sameText(other->hosts(), program.hosts()) && !other->others() &&
                    !other->program_of() && !other->alternatives(),
                "mesh", "a rank's program is of another mesh");
      ProgramChecker(*other).check();
      requireAt(sameText(deviceOf(program).target(), deviceOf(*other).target()), "mesh",
                "a rank's program is for another device");
    }
}

/// The loader writes and reads shares by the rank, at places that its program has.
void ProgramChecker::checkRanks() {
  if (!program.mesh())
    return;
  requireAt(program.rank() == 0 && (!program.program_of() || program.program_of()->Get(0) == 0),
            "mesh", "rank 0 runs another program than the first");
  if (std::optional<planned::RanksFault> fault = planned::verifyRanks(plannedRanks(program)))
    reject("mesh", concat(planned::text(fault->kind), ": ", fault->message));
}

void EntryChecker::checkCollective(const Collective &collective) const {
  require(collective.kind() <= CollectiveKind::MAX, "its kind is unknown");
  require(isAligned(collective.bytes()), "its sizes are not aligned in the file");
  Mesh mesh = meshOf(program);
  int axis = mesh.find(collective.axis()->string_view());
  require(axis >= 0, "its axis '" + collective.axis()->str() + "' is none of the mesh");
  require(collective.bytes()->size() == uint64_t(mesh.axes[axis].size),
          "it has not as many sizes as members");
  require(collective.dtype() <= DType::MAX, unknownType(collective.dtype()));
  for (uint64_t bytes : *collective.bytes()) {
    require(bytes > 0 && bytes <= maxArena, "a member has nothing, or too much");
    require(bytes % sizeOf(elementOf(collective.dtype())) == 0,
            "a member has a part of an element");
  }
  require(collective.kind() != CollectiveKind::shift ||
              std::ranges::count(*collective.bytes(), collective.own()) ==
                  int64_t(collective.bytes()->size()),
          "it shifts what members have more of than others");
  require(collective.own() ==
              collective.bytes()->Get(uint32_t(mesh.coordinate(int64_t(program.rank()), axis))),
          "its own size is not this rank's");
}

void EntryChecker::checkTransfer(const Transfer &transfer) const {
  require(transfer.kind() <= TransferKind::MAX, "its kind is unknown");
  Mesh mesh = meshOf(program);
  int axis = mesh.find(transfer.axis()->string_view());
  require(axis >= 0, "its axis '" + transfer.axis()->str() + "' is none of the mesh");
  require(int64_t(transfer.peer()) < mesh.axes[size_t(axis)].size &&
              int64_t(transfer.peer()) != mesh.coordinate(int64_t(program.rank()), unsigned(axis)),
          "its other end is no other rank");
  // Ranks of one process come to the same places together.
  Mesh hosts = hostsOf(program);
  int apart = hosts.find(transfer.axis()->string_view());
  require(apart >= 0 && hosts.axes[size_t(apart)].size == mesh.axes[size_t(axis)].size,
          "its ends may be ranks of one process");
  require(transfer.dtype() <= DType::MAX, unknownType(transfer.dtype()));
  require(transfer.size() > 0 && transfer.size() <= maxArena &&
              transfer.size() % sizeOf(elementOf(transfer.dtype())) == 0,
          "it moves nothing, too much, or a part of an element");
  require(transfer.number() > 0, "it has no number");
}

} // namespace weir::artifact
