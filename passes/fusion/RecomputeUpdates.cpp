//===- RecomputeUpdates.cpp - Computes the new values of a step twice -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step knows whether it is skipped only when it has checked that all its new values are finite.
// Then it selects each new value or the old one. To save the new values of all parameters and
// states until then would need as much memory again, and a write and a read of it. So the step
// checks them, and computes them a second time from their operands, which are in memory anyway.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "passes/fusion/Epilogues.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;

namespace weir {
namespace {

/// More ops than the optimizers that are known take for one value.
constexpr size_t longestChain = 48;

/// Whether it takes rows of a variable, as a rank takes its shard of a parameter that ZeRO 1
/// updates.
bool takesRowsOfVariable(Operation *op) {
  auto gather = dyn_cast<GatherOp>(op);
  return gather && gather.getTable().getDefiningOp<ReadOp>();
}

/// A tensor that one truth value decides about.
struct Selected {
  SelectOp select;
  OpSet chain;                           ///< the ops that compute it, of which none takes long
  llvm::SmallSetVector<Value, 8> leaves; ///< what of its shape these read
};

/// Null where it is no such tensor, or nobody else needs it.
std::optional<Selected> selected(SelectOp select) {
  auto decision = select.getCondition().getDefiningOp<BroadcastOp>();
  Value value = select.getOnTrue();
  if (!decision || !shapeOf(decision.getInput()).empty() || value.hasOneUse())
    return std::nullopt;
  Selected found{select, {}, {}};
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (op && found.chain.contains(op))
      continue;
    if (op && takesRowsOfVariable(op)) {
      found.leaves.insert(next);
      found.chain.insert(op);
      continue;
    }
    if (!op || !isa<Pointwise>(op) || scalesProduct(op) || op->getBlock() != select->getBlock()) {
      found.leaves.insert(next);
      continue;
    }
    found.chain.insert(op);
    if (found.chain.size() > longestChain)
      return std::nullopt;
    for (Source source : sources(op))
      if (shapeOf(source.value) == shapeOf(value))
        open.push_back(source.value);
  }
  if (found.chain.empty())
    return std::nullopt;
  return found;
}

/// Neighbours in a class compute from the same tensors, as a parameter and its moments do.
llvm::IntEqClasses classesOf(ArrayRef<Selected> all) {
  llvm::IntEqClasses classes(all.size());
  llvm::DenseMap<Value, unsigned> readBy;
  for (auto [i, one] : llvm::enumerate(all))
    for (Value leaf : one.leaves)
      if (auto [at, isNew] = readBy.try_emplace(leaf, i); !isNew)
        classes.join(at->second, i);
  classes.compress();
  return classes;
}

} // namespace

void recomputeUpdates(Block &block) {
  std::vector<Selected> all;
  for (SelectOp select : block.getOps<SelectOp>())
    if (!shapeOf(select.getResult()).empty())
      if (std::optional<Selected> one = selected(select))
        all.push_back(std::move(*one));
  if (all.empty())
    return;
  llvm::IntEqClasses classes = classesOf(all);
  std::vector<llvm::SetVector<Value>> leaves(classes.getNumClasses());
  std::vector<size_t> members(classes.getNumClasses());
  for (auto [i, one] : llvm::enumerate(all)) {
    leaves[classes[i]].insert(one.leaves.begin(), one.leaves.end());
    ++members[classes[i]];
  }
  std::vector<IRMapping> mappings(classes.getNumClasses());
  for (auto [i, one] : llvm::enumerate(all)) {
    unsigned number = classes[i];
    // Otherwise each is written, read again, and what it replaces is read.
    if (leaves[number].size() > 3 * members[number])
      continue;
    SmallVector<Operation *> ordered(one.chain.begin(), one.chain.end());
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    OpBuilder builder(one.select);
    IRMapping &mapping = mappings[number];
    for (Operation *op : ordered)
      if (!mapping.contains(op->getResult(0)))
        builder.clone(*op, mapping);
    one.select.getOnTrueMutable().set(mapping.lookup(one.select.getOnTrue()));
    // The old value, where it is part of a variable and the new one is computed from it.
    one.select.getOnFalseMutable().set(mapping.lookupOrDefault(one.select.getOnFalse()));
  }
}

} // namespace weir
