//===- Statistics.cpp - Rows from their statistics ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/Roots.h"

using namespace mlir;

namespace weir {

/// Whether `value` is element by element computed from what is not among `made`.
static bool isPointwise(Value value, const OpSet &made) {
  Operation *op = value.getDefiningOp();
  if (!op || !made.contains(op))
    return true;
  if (!isa<Pointwise>(op) && fusionClass(op) != FusionClass::cheap)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isPointwise(operand, made); });
}

void computeFromStatistics(Block &block) {
  SmallVector<Decomposable> composites;
  for (Operation &op : block)
    if (auto composite = dyn_cast<Decomposable>(op);
        composite && op.getNumResults() > 1 && fusionClass(&op) == FusionClass::fused &&
        llvm::any_of(op.getResults().drop_front(), [](Value kept) { return !kept.use_empty(); }))
      composites.push_back(composite);
  for (Decomposable composite : composites) {
    OpBuilder builder(composite->getContext());
    builder.setInsertionPointAfter(composite);
    Operation *end = composite->getNextNode();
    SmallVector<Value> parts = composite.decompose(builder);
    OpSet made;
    for (Operation *op = composite->getNextNode(); op != end; op = op->getNextNode())
      made.insert(op);
    for (auto [part, kept] : llvm::drop_begin(llvm::zip_equal(parts, composite->getResults())))
      part.replaceAllUsesWith(kept);
    if (isPointwise(parts.front(), made))
      composite->getResult(0).replaceAllUsesWith(parts.front());
    for (Operation *op : llvm::reverse(made))
      if (op->use_empty())
        op->erase();
  }
}

} // namespace weir
