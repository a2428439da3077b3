//===- Units.cpp - Ordered units that fusion merges -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/Units.h"
#include "ir/weir/Collectives.h"
#include "passes/stages/GatherSections.h"
#include <queue>

using namespace mlir;

namespace weir {
namespace {

/// A unit, and the units that wait for it.
struct Waiting : Unit {
  int64_t position = 0; ///< of its last op in the block; units are emitted by it
  int waits = 0;        ///< for how many units it waits: those that it reads, and of collectives
                        ///< the one before
  SmallVector<Waiting *> reads, next;
  bool isCollective = false;
  bool ofVariables = true; ///< depends on no argument of the block
  bool isOnDemand = false; ///< a collective of variables only, or computed from such a one
};

class Scheduler {
public:
  Scheduler(Block &block, Groups &groups) : block(block) {
    llvm::DenseMap<FusionGroup *, Waiting *> unitOfGroup;
    SmallVector<MicrobatchesOp> sections = sectionsIn(block);
    for (auto [position, op] : llvm::enumerate(block.without_terminator())) {
      FusionGroup *group = groups.of(&op);
      if (!group && fusionClass(&op) == FusionClass::cheap)
        continue;
      auto section = dyn_cast<MicrobatchesOp>(op);
      bool joins = section && llvm::is_contained(sections, section);
      Waiting *unit = group   ? unitOfGroup.lookup(group)
                      : joins ? unitOf.lookup(sections.front())
                              : nullptr;
      if (!unit) {
        unit = units.emplace_back(std::make_unique<Waiting>()).get();
        unit->group = group;
        if (group)
          unitOfGroup[group] = unit;
      }
      unit->ops.push_back(&op);
      unit->position = position;
      unitOf[&op] = unit;
    }
    findWaits();
  }

  std::vector<Unit> inOrder() {
    const std::vector<Waiting *> before = ordered();
    for (Waiting *unit : before) {
      unit->isOnDemand = unit->isCollective;
      for (Waiting *read : unit->reads) {
        unit->ofVariables &= read->ofVariables;
        unit->isOnDemand |= read->isOnDemand;
      }
      unit->isOnDemand &= unit->ofVariables;
    }
    // A unit inherits the position of the first that waits for it. The all-gather of a parameter
    // could run at any time, but its result occupies memory from then on: it runs right before its
    // first user.
    for (Waiting *unit : llvm::reverse(before)) {
      std::optional<int64_t> first;
      for (Waiting *after : unit->next)
        first = std::min(after->position, first.value_or(after->position));
      if (first)
        unit->position = unit->isOnDemand ? *first : std::min(*first, unit->position);
    }
    std::vector<Unit> all;
    for (Waiting *unit : ordered())
      all.push_back(*unit);
    return all;
  }

private:
  /// By position, each after the units for which it waits. Of equal positions, those that are
  /// computed on demand come last.
  std::vector<Waiting *> ordered() {
    auto later = [](Waiting *a, Waiting *b) {
      return std::pair(a->position, a->isOnDemand) > std::pair(b->position, b->isOnDemand);
    };
    std::priority_queue<Waiting *, std::vector<Waiting *>, decltype(later)> ready(later);
    llvm::DenseMap<Waiting *, int> waits;
    for (auto &unit : units)
      if (!(waits[unit.get()] = unit->waits))
        ready.push(unit.get());
    std::vector<Waiting *> order;
    while (!ready.empty()) {
      Waiting *unit = order.emplace_back(ready.top());
      ready.pop();
      for (Waiting *after : unit->next)
        if (--waits[after] == 0)
          ready.push(after);
    }
    assert(order.size() == units.size() && "groups wait for each other");
    return order;
  }

  using Set = llvm::SmallPtrSet<Waiting *, 8>;

  void findWaits() {
    Waiting *lastCollective = nullptr;
    for (auto &unit : units) {
      Set needs;
      for (Operation *op : unit->ops)
        op->walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            unit->ofVariables &= addMaker(operand, needs);
        });
      needs.erase(unit.get());
      unit->reads.assign(needs.begin(), needs.end());
      unit->isCollective = !unit->group && llvm::any_of(unit->ops, hasCollectives);
      if (unit->isCollective) {
        if (lastCollective)
          needs.insert(lastCollective);
        lastCollective = unit.get();
      }
      unit->waits = needs.size();
      for (Waiting *before : needs)
        before->next.push_back(unit.get());
    }
  }

  /// The unit that makes a value, or those that make what a cheap op reads. False if that is an
  /// argument of the block.
  bool addMaker(Value value, Set &into) {
    Operation *definer = value.getDefiningOp();
    if (!definer)
      return value.getParentBlock() != &block;
    if (definer->getBlock() != &block)
      return true;
    if (Waiting *unit = unitOf.lookup(definer)) {
      into.insert(unit);
      return true;
    }
    bool ofVariables = true;
    for (Value operand : definer->getOperands())
      ofVariables &= addMaker(operand, into);
    return ofVariables;
  }

  Block &block;
  std::vector<std::unique_ptr<Waiting>> units;
  llvm::DenseMap<Operation *, Waiting *> unitOf;
};

} // namespace

std::vector<Unit> unitsInOrder(Block &block, Groups &groups) {
  return Scheduler(block, groups).inOrder();
}

} // namespace weir
