//===- StepParts.cpp - Forward, gradient and optimizer parts of a step ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/StepParts.h"
#include "ir/weir/Update.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

bool multiplies(Operation *op) {
  auto castable = dyn_cast<Castable>(op);
  return castable && castable.castRule().multiplies != Multiplies::nothing;
}

/// The value of a microbatches result within a round.
static Value yieldedFor(OpResult result) {
  auto microbatches = cast<MicrobatchesOp>(result.getOwner());
  return microbatches.getBody().front().getTerminator()->getOperand(result.getResultNumber());
}

/// Walks from the values to their operands, into microbatches too, visiting each value once.
/// `visit` returns whether to continue with an op's operands.
static void walkBack(ValueRange values, llvm::function_ref<bool(Value, Operation *)> visit) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open(values);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (isa<MicrobatchesOp>(op))
      open.push_back(yieldedFor(cast<OpResult>(value)));
    if (visit(value, op))
      llvm::append_range(open, op->getOperands());
  }
}

/// The ops on which the values depend. The check whether an update is finite does not count as an
/// operand.
static OpSet opsBefore(ValueRange values) {
  OpSet ops;
  walkBack(values,
           [&](Value, Operation *op) { return !isa<AllFiniteOp>(op) && ops.insert(op).second; });
  return ops;
}

/// The ops that depend on the values.
static OpSet opsBehind(ValueRange values) {
  OpSet seen;
  SmallVector<Value> open(values);
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers())
      if (seen.insert(user).second)
        llvm::append_range(open, user->getResults());
  return seen;
}

OpSet optimizerOf(func::FuncOp entry, ValueRange gradients) {
  SmallVector<Value> updates, others(gradients);
  entry.walk(
      [&](WriteOp write) { (isUpdate(write) ? updates : others).push_back(write.getValue()); });
  llvm::append_range(others, entry.getBody().front().getTerminator()->getOperands());
  OpSet optimizer = opsBehind(gradients), needed = opsBefore(others);
  for (Operation *op : opsBefore(updates))
    if (!needed.contains(op))
      optimizer.insert(op);
  for (Operation *op : opsBefore(gradients))
    optimizer.erase(op);
  return optimizer;
}

/// The product of which the value is a view, if it has no other use that may round it.
static Operation *productAlone(Value value) {
  while (Operation *op = value.hasOneUse() ? value.getDefiningOp() : nullptr) {
    if (multiplies(op))
      return op;
    if (!isa<View>(op))
      break;
    value = op->getOperand(0);
  }
  return nullptr;
}

OpSet productsOf(ValueRange gradients, const llvm::DenseSet<Value> &forward) {
  OpSet products;
  walkBack(gradients, [&](Value value, Operation *op) {
    if (forward.contains(value))
      return false;
    if (multiplies(op))
      products.insert(op);
    else if (auto sum = dyn_cast<ReduceOp>(op); sum && sum.getKind() == Reduction::sum)
      if (Operation *product = productAlone(sum.getInput()))
        products.insert(product);
    return isa<Pointwise, View, PadOp, ConcatOp>(op);
  });
  return products;
}

llvm::SmallSetVector<Operation *, 1> compositesBefore(Operation *op) {
  llvm::SmallSetVector<Operation *, 1> composites;
  for (Value operand : op->getOperands())
    if (auto result = dyn_cast<OpResult>(operand);
        result && isa<Decomposable>(result.getOwner()) && result.getResultNumber() > 0 &&
        llvm::is_contained(op->getOperands(), result.getOwner()->getOperand(0)))
      composites.insert(result.getOwner());
  return composites;
}

llvm::DenseSet<Value> forwardOf(func::FuncOp entry, ValueRange gradients,
                                ArrayRef<Operation *> composites) {
  llvm::DenseSet<Value> seen(gradients.begin(), gradients.end());
  SmallVector<Value> open(entry.getBody().front().getTerminator()->getOperands());
  entry.walk([&](WriteOp write) {
    if (!isUpdate(write))
      open.push_back(write.getValue());
  });
  for (Operation *op : composites)
    for (Operation *composite : compositesBefore(op))
      llvm::append_range(open, composite->getResults().drop_front());
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // A carried value comes from outside, and from the previous round.
      auto rounds = dyn_cast<MicrobatchesOp>(argument.getOwner()->getParentOp());
      unsigned i = argument.getArgNumber();
      if (rounds && i > 0)
        open.push_back(rounds->getOperand(i - 1));
      if (rounds && i > rounds.getSliced().size())
        open.push_back(rounds.getBody().front().getTerminator()->getOperand(
            rounds.numSums() + i - 1 - rounds.getSliced().size()));
    } else if (auto rounds = value.getDefiningOp<MicrobatchesOp>()) {
      open.push_back(yieldedFor(cast<OpResult>(value)));
    } else if (Operation *op = value.getDefiningOp(); !isa<ClipOp, AllFiniteOp>(op)) {
      llvm::append_range(open, op->getOperands());
    }
  }
  for (Value gradient : gradients)
    seen.erase(gradient);
  return seen;
}

} // namespace weir
