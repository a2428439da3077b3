//===- Mark.cpp - What the plan of the model says of actions ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Mark.h"
#include "ir/weir/Locations.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/structure/Structure.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace weir::remat {

/// Which of a kernel's results are gradients, or computed from what it reads of them.
static void markGradients(Step &step, const Action &action, KernelOp kernel) {
  llvm::DenseSet<Value> gradients;
  Block &body = kernel.getBody().front();
  for (auto [argument, read] : llvm::zip_equal(body.getArguments(), action.reads))
    if (step.tensors[read].isGradient)
      gradients.insert(argument);
  auto isOne = [&](Value value) { return gradients.contains(value); };
  for (Operation &op : body.without_terminator())
    if (!isa<ConstantOp>(op) && (isGradient(op.getLoc()) || llvm::any_of(op.getOperands(), isOne)))
      gradients.insert(op.result_begin(), op.result_end());
  for (auto [made, value] : llvm::zip_equal(action.writes, body.getTerminator()->getOperands()))
    step.tensors[made].isGradient = isOne(value);
}

void mark(EntryStep &entry, const Recomputed &blocks) {
  Step &step = entry.step;
  std::vector<std::optional<StringRef>> starts(step.actions.size());
  auto isOne = [&](int tensor) { return step.tensors[tensor].isGradient; };
  for (auto [action, maker, begun] : llvm::zip_equal(step.actions, entry.makers, starts)) {
    auto kernel = dyn_cast_or_null<KernelOp>(maker);
    if (kernel)
      markGradients(step, action, kernel);
    else if (llvm::any_of(action.reads, isOne))
      for (int made : action.writes)
        step.tensors[made].isGradient = true;
    action.isBackward = llvm::any_of(action.writes, isOne);
    if (kernel && action.repeats && !action.isBackward)
      begun = blocks.startOf(kernel);
    action.marked = begun.has_value();
  }
  // What one layer gives the next is where the next is computed again from.
  std::vector<int> kept;
  for (auto [action, begun] : llvm::zip_equal(step.actions, starts))
    for (int read : action.marked ? ArrayRef<int>(action.reads) : ArrayRef<int>())
      if (int maker = step.tensors[read].madeBy;
          maker >= 0 && step.actions[maker].marked && starts[maker] != begun)
        kept.push_back(maker);
  for (int maker : kept)
    step.actions[maker].marked = false;
  auto readsMarked = [&](const Action &action) {
    return action.isBackward && llvm::any_of(action.reads, [&](int read) {
             int maker = step.tensors[read].madeBy;
             return maker >= 0 && step.actions[maker].marked;
           });
  };
  if (llvm::none_of(step.actions, readsMarked))
    for (Action &action : step.actions)
      action.marked = false;
}

} // namespace weir::remat
