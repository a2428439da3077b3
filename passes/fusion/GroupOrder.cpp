//===- GroupOrder.cpp - A topological order of fusion groups --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/GroupOrder.h"
#include "ir/weir/Collectives.h"
#include "passes/fusion/Groups.h"
#include "passes/stages/GatherSections.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weir {

/// Above every label.
constexpr unsigned labelBits = 62;

GroupOrder::GroupOrder(Block &block) {
  for (auto [number, op] : llvm::enumerate(block))
    numbers[&op] = number;
  unsigned count = numbers.size();
  // Sections of the same microbatches run as one: what one waits for, all do.
  SmallVector<MicrobatchesOp> sections = sectionsIn(block);
  for (auto [i, section] : llvm::enumerate(sections)) {
    assert(&*std::next(sections.front()->getIterator(), i) == section &&
           "gatherSections() was called");
    numbers[section] = numbers.lookup(sections.front());
  }
  reads.resize(count);
  members.resize(count);
  groupOf.resize(count);
  seen.resize(count);
  cheap.resize(count);
  before.resize(count + 2);
  behind.resize(count + 2);
  labels.resize(count + 2);
  std::optional<unsigned> lastCollective;
  for (auto [place, op] : llvm::enumerate(block)) {
    unsigned number = numbers.lookup(&op);
    if (hasCollectives(&op)) {
      if (lastCollective && lastCollective != number)
        reads[number].push_back(*lastCollective);
      lastCollective = number;
    }
    // A region may read what is around it.
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definer = operand.getDefiningOp(); definer && definer->getBlock() == &block)
          reads[number].push_back(numbers.lookup(definer));
    });
    members[place].push_back(place);
    groupOf[place] = place;
    cheap[place] = fusionClass(&op) == FusionClass::cheap;
  }
  unsigned head = count, tail = count + 1;
  uint64_t distance = (uint64_t(1) << labelBits) / (count + 1);
  for (unsigned i = 0; i < count; ++i) {
    before[i] = i ? i - 1 : head;
    behind[i] = i + 1 < count ? i + 1 : tail;
    labels[i] = distance * (i + 1);
  }
  behind[head] = count ? 0 : tail;
  before[tail] = count ? count - 1 : head;
  labels[head] = 0;
  labels[tail] = uint64_t(1) << labelBits;
  findChain();
}

void GroupOrder::findChain() {
  unsigned count = reads.size();
  std::vector<unsigned> depth(count, 1);
  unsigned deepest = 0;
  for (unsigned op = 0; op < count; ++op) {
    for (unsigned read : reads[op])
      depth[op] = std::max(depth[op], depth[read] + 1);
    if (depth[op] > depth[deepest])
      deepest = op;
  }
  chainBehind.assign(count, count);
  chainBefore.assign(count, 0);
  if (count == 0)
    return;
  for (unsigned op = deepest;;) {
    chainBehind[op] = depth[op] - 1;
    chainBefore[op] = depth[op];
    auto next =
        llvm::find_if(reads[op], [&](unsigned read) { return depth[read] + 1 == depth[op]; });
    if (next == reads[op].end())
      break;
    op = *next;
  }
  for (unsigned op = 0; op < count; ++op)
    for (unsigned read : reads[op])
      chainBefore[op] = std::max(chainBefore[op], chainBefore[read]);
  for (unsigned op = count; op-- > 0;)
    for (unsigned read : reads[op])
      chainBehind[read] = std::min(chainBehind[read], chainBehind[op]);
}

bool GroupOrder::otherPath(Operation *earlier, Operation *later, bool direct) {
  unsigned from = groupOf[numbers.lookup(earlier)], to = groupOf[numbers.lookup(later)];
  SmallVector<unsigned, 32> found;
  return isBefore(from, to) && search(from, to, direct, found);
}

/// Whether there is another path; `found` are the groups gone through, all behind `from` in the
/// order: all of `to`'s that are, where there is none.
bool GroupOrder::search(unsigned from, unsigned to, bool direct, SmallVectorImpl<unsigned> &found) {
  ++searches;
  bool arrived = false;
  auto follow = [&](unsigned op) {
    unsigned group = groupOf[op];
    if (seen[group] == searches || isBefore(group, from))
      return;
    seen[group] = searches;
    found.push_back(group);
    arrived |= chainBehind[from] < chainBefore[group];
  };
  auto read = [&](unsigned op) {
    if (groupOf[op] == from)
      arrived |= !direct;
    else if (groupOf[op] != to)
      follow(op);
  };
  for (unsigned member : members[to])
    for (unsigned op : reads[member]) {
      ++looked;
      // A cheap op is cloned into its user: what it reads, the user reads.
      if (direct && cheap[op])
        llvm::for_each(reads[op], read);
      else
        read(op);
      if (arrived)
        return true;
    }
  direct = false;
  for (size_t i = 0; i < found.size(); ++i)
    for (unsigned member : members[found[i]])
      for (unsigned op : reads[member]) {
        ++looked;
        read(op);
        if (arrived)
          return true;
      }
  return false;
}

void GroupOrder::merge(Operation *a, Operation *b) {
  unsigned from = groupOf[numbers.lookup(a)], to = groupOf[numbers.lookup(b)];
  if (isBefore(to, from))
    std::swap(from, to);
  SmallVector<unsigned, 32> found;
  bool other = search(from, to, true, found);
  assert(!other && "the merged group would wait for itself");
  (void)other;
  llvm::sort(found, [&](unsigned a, unsigned b) { return isBefore(a, b); });
  for (unsigned group : found) {
    unlink(group);
    insertBefore(group, from);
  }
  unlink(to);
  for (unsigned member : members[to])
    groupOf[member] = from;
  llvm::append_range(members[from], members[to]);
  members[to].clear();
  chainBehind[from] = std::min(chainBehind[from], chainBehind[to]);
  chainBefore[from] = std::max(chainBefore[from], chainBefore[to]);
}

void GroupOrder::unlink(unsigned group) {
  behind[before[group]] = behind[group];
  before[behind[group]] = before[group];
}

void GroupOrder::insertBefore(unsigned group, unsigned place) {
  if (labels[place] - labels[before[place]] < 2)
    makeRoomBefore(place);
  labels[group] = labels[before[place]] + (labels[place] - labels[before[place]]) / 2;
  before[group] = before[place];
  behind[group] = place;
  behind[before[group]] = group;
  before[place] = group;
}

/// Bender, Cole, Demaine, Farach-Colton and Zito, "Two simplified algorithms for maintaining order
/// in a list", 2002: spreads the labels of the smallest range around the place that is not crowded.
void GroupOrder::makeRoomBefore(unsigned place) {
  unsigned head = reads.size(), tail = head + 1;
  double most = 1;
  for (unsigned bits = 1;; ++bits) {
    assert(bits <= labelBits && "there are many more labels than ops");
    most *= 4.0 / 3;
    uint64_t low = labels[place] >> bits << bits, high = low + (uint64_t(1) << bits);
    unsigned first = place;
    size_t count = 1;
    for (; before[first] != head && labels[before[first]] >= low; first = before[first])
      ++count;
    for (unsigned next = behind[place]; next != tail && labels[next] < high; next = behind[next])
      ++count;
    uint64_t distance = (high - low) / (count + 1);
    looked += count;
    if (double(count) > most || distance < 2)
      continue;
    for (uint64_t label = low; count > 0; --count, first = behind[first])
      labels[first] = label += distance;
    return;
  }
}

} // namespace weir
