//===- Mark.cpp - What the plan of the model says of actions ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Mark.h"
#include "ir/weir/Locations.h"

using namespace mlir;

namespace weir::remat {

static bool isIn(KernelOp kernel, const Recomputed &blocks) {
  bool any = false;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<View, ConstantOp>(op))
      continue;
    if (!blocks.contains(op.getLoc()))
      return false;
    any = true;
  }
  return any;
}

void mark(EntryStep &entry, const Recomputed &blocks) {
  for (auto [action, maker] : llvm::zip_equal(entry.step.actions, entry.makers)) {
    auto kernel = dyn_cast_or_null<KernelOp>(maker);
    if (!kernel)
      continue;
    action.isBackward = llvm::any_of(kernel.getBody().front().without_terminator(),
                                     [](Operation &op) { return isGradient(op.getLoc()); });
    action.marked = action.repeats && !action.isBackward && isIn(kernel, blocks);
  }
}

} // namespace weir::remat
