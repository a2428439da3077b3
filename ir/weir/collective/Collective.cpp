//===- Collective.cpp - What ranks tell each other ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include <numeric>

using namespace mlir;

namespace weir {

static int64_t all(ArrayRef<int64_t> rows) {
  return std::accumulate(rows.begin(), rows.end(), int64_t(0));
}

static LogicalResult verifyRowsOf(Operation *op, ArrayRef<int64_t> rows) {
  // C1
  if (rows.empty() || llvm::any_of(rows, [](int64_t count) { return count < 1; }))
    return op->emitOpError("needs a positive number of rows for each member");
  if (shapeOf(op->getOperand(0)).empty())
    return op->emitOpError("moves rows, and its input has none");
  return expectSameElements(op, op->getOperand(0), op->getResult(0));
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyRowsOf(*this, getRows())))
    return failure();
  Shape shape(shapeOf(getInput()));
  if (!llvm::is_contained(getRows(), shape[0]))
    return emitOpError("has ") << shape[0] << " rows, as no member";
  // C2
  shape[0] = all(getRows());
  return expectShape(*this, "the result", getResult(), shape);
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyRowsOf(*this, getRows())))
    return failure();
  Shape shape(shapeOf(getInput()));
  if (shape[0] != all(getRows()))
    return emitOpError("has ") << shape[0] << " rows, and " << all(getRows())
                               << " for all members together";
  // C2
  ArrayRef<int64_t> result = shapeOf(getResult());
  int64_t members = getRows().size();
  if (result.empty() || result[0] % members != 0 ||
      !llvm::is_contained(getRows(), result[0] / members))
    return emitOpError("needs as many rows from each member as it has for itself");
  shape[0] = result[0];
  return expectShape(*this, "the result", getResult(), shape);
}

} // namespace weir
