//===- Statistics.cpp - Rows from their statistics ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Statistics.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weir {

using OpSet = llvm::SetVector<Operation *>;

/// Whether `value` is element by element computed from what is not among `made`.
static bool isPointwise(Value value, const OpSet &made) {
  Operation *op = value.getDefiningOp();
  if (!op || !made.contains(op))
    return true;
  if (!isa<Pointwise>(op) && fusionClass(op) != FusionClass::cheap)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isPointwise(operand, made); });
}

Value fromStatistics(Decomposable composite, ValueRange operands, OpBuilder &builder) {
  // Of a copy, since what an op decomposes to reads what the op reads.
  Operation *copy = builder.clone(*composite.getOperation());
  copy->setOperands(operands);
  OpSet made;
  SmallVector<Value> parts = cast<Decomposable>(copy).decompose(builder);
  for (Operation *op = copy->getNextNode(), *end = &*builder.getInsertionPoint(); op != end;
       op = op->getNextNode())
    made.insert(op);
  for (auto [part, kept] : llvm::drop_begin(llvm::zip_equal(parts, composite->getResults())))
    part.replaceAllUsesWith(kept);
  copy->erase();
  Value rows = isPointwise(parts.front(), made) ? parts.front() : Value();
  for (Operation *op : llvm::reverse(made))
    if (op->use_empty() && (!rows || op != rows.getDefiningOp()))
      op->erase();
  return rows;
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
    if (Value rows = fromStatistics(composite, composite->getOperands(), builder))
      composite->getResult(0).replaceAllUsesWith(rows);
  }
}

} // namespace weir
