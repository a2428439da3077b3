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
  int64_t position = 0; ///< of its last op in the block
  int waits = 0;        ///< for how many units it still waits
  SmallVector<Waiting *> next;
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
    auto later = [](Waiting *a, Waiting *b) { return a->position > b->position; };
    std::priority_queue<Waiting *, std::vector<Waiting *>, decltype(later)> ready(later);
    for (auto &unit : units)
      if (!unit->waits)
        ready.push(unit.get());
    std::vector<Unit> order;
    while (!ready.empty()) {
      Waiting *unit = ready.top();
      ready.pop();
      for (Waiting *after : unit->next)
        if (--after->waits == 0)
          ready.push(after);
      order.push_back(*unit);
    }
    assert(order.size() == units.size() && "groups wait for each other");
    return order;
  }

private:
  using Set = llvm::SmallPtrSet<Waiting *, 8>;

  void findWaits() {
    Waiting *lastCollective = nullptr;
    for (auto &unit : units) {
      Set needs;
      if (!unit->group && llvm::any_of(unit->ops, hasCollectives)) {
        if (lastCollective)
          needs.insert(lastCollective);
        lastCollective = unit.get();
      }
      for (Operation *op : unit->ops)
        op->walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            addMaker(operand, needs);
        });
      needs.erase(unit.get());
      unit->waits = needs.size();
      for (Waiting *before : needs)
        before->next.push_back(unit.get());
    }
  }

  /// The unit that makes a value, or those that make what a cheap op reads.
  void addMaker(Value value, Set &into) {
    Operation *definer = value.getDefiningOp();
    if (!definer || definer->getBlock() != &block)
      return;
    if (Waiting *unit = unitOf.lookup(definer)) {
      into.insert(unit);
      return;
    }
    for (Value operand : definer->getOperands())
      addMaker(operand, into);
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
