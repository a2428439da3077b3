//===- MarkRecomputed.cpp - Actions that the model's plan marks -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/MarkRecomputed.h"
#include "ir/weir/Phase.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/structure/Structure.h"
#include "llvm/ADT/DenseSet.h"

#include <map>

using namespace mlir;

namespace weir::remat {

/// Which of a kernel's results are gradients, or computed from what it reads of them.
static void markGradients(Step &step, const Action &action, KernelOp kernel, Phases &phases) {
  llvm::DenseSet<Value> fromGradients;
  Block &body = kernel.getBody().front();
  for (auto [argument, read] : llvm::zip_equal(body.getArguments(), action.reads))
    if (step.tensors[read].isGradient)
      fromGradients.insert(argument);
  auto isFromOne = [&](Value value) { return fromGradients.contains(value); };
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getOperands(), isFromOne))
      fromGradients.insert(op.result_begin(), op.result_end());
  for (auto [made, result, value] :
       llvm::zip_equal(action.writes, kernel.getResults(), body.getTerminator()->getOperands()))
    step.tensors[made].isGradient = phases.of(result) == StepPhase::backward || isFromOne(value);
}

/// Which block each marked action is computed again with, by a number that grows from layer to
/// layer; -1 of all others. One that computes in several, as fusion makes of the end of a layer and
/// the beginning of the next, or of what all layers compute alike, goes with what it reads.
static std::vector<int> numberBlocks(const EntryStep &entry, const Recomputed &blocks) {
  const Step &step = entry.step;
  std::vector<int> numbers(step.actions.size(), -1);
  std::map<StringRef, int> known;
  for (auto [i, action] : llvm::enumerate(step.actions)) {
    if (!action.marked)
      continue;
    std::set<int> own, read;
    for (StringRef start : blocks.startsOf(cast<KernelOp>(entry.makers[i])))
      own.insert(known.try_emplace(start, int(known.size())).first->second);
    for (int tensor : action.reads)
      if (int maker = step.tensors[tensor].madeBy; maker >= 0 && own.contains(numbers[maker]))
        read.insert(numbers[maker]);
    numbers[i] = read.empty() ? *own.rbegin() : *read.rbegin();
  }
  return numbers;
}

void markRecomputedActions(EntryStep &entry, const Recomputed &blocks) {
  Step &step = entry.step;
  Phases phases;
  auto isOne = [&](int tensor) { return step.tensors[tensor].isGradient; };
  for (auto [action, maker] : llvm::zip_equal(step.actions, entry.makers)) {
    auto kernel = dyn_cast_or_null<KernelOp>(maker);
    if (kernel)
      markGradients(step, action, kernel, phases);
    else if (llvm::any_of(action.reads, isOne))
      for (int made : action.writes)
        step.tensors[made].isGradient = true;
    action.isBackward = llvm::any_of(action.writes, isOne);
  }
  auto markAll = [&] {
    for (auto [action, maker] : llvm::zip_equal(step.actions, entry.makers)) {
      auto kernel = dyn_cast_or_null<KernelOp>(maker);
      action.marked =
          kernel && action.repeats && !action.isBackward && !blocks.startsOf(kernel).empty();
    }
  };
  markAll();
  // A norm's forward kernel may compute besides what its gradient alone reads.
  for (const Action &action : step.actions)
    for (int read : action.marked ? ArrayRef<int>(action.reads) : ArrayRef<int>())
      if (int maker = step.tensors[read].madeBy; maker >= 0)
        step.actions[maker].isBackward = false;
  markAll();
  // What one layer gives the next is where the next is computed again from.
  std::vector<int> numbers = numberBlocks(entry, blocks);
  for (auto [action, number] : llvm::zip_equal(step.actions, numbers))
    for (int tensor : number >= 0 ? ArrayRef<int>(action.reads) : ArrayRef<int>())
      if (int maker = step.tensors[tensor].madeBy; maker >= 0 && numbers[maker] != number)
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
