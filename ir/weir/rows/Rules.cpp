//===- Rules.cpp - Verifiers of composites of rows ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Rules.h"

using namespace mlir;

namespace weir {

// C1 of all of them; traits compare the other types.
LogicalResult verifyRows(Operation *op, StringRef factors) {
  ArrayRef<int64_t> rows = shapeOf(op->getOperand(0));
  if (rows.empty() || rows.back() == 0)
    return op->emitOpError("needs a last dimension, and elements in it");
  return expectFactors(op, factors);
}

LogicalResult NormalizeOp::verify() {
  // C1
  if (failed(verifyRows(*this, factors())))
    return failure();
  // C2
  if (getEps().isNegative())
    return emitOpError("needs an eps that is not negative");
  return success();
}

Picks SoftmaxCrossEntropyOp::picks() { return {getLabels(), shapeOf(getLogits()).back()}; }

} // namespace weir
