//===- Collective.cpp - What ranks tell each other ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/collective/Collective.h"
#include "ir/weir/Shapes.h"
#include "llvm/ADT/DenseSet.h"
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

/// The input has rows for all members together.
static LogicalResult expectRowsOfAll(Operation *op, ArrayRef<int64_t> rows) {
  const int64_t found = shapeOf(op->getOperand(0))[0];
  if (found != all(rows))
    return op->emitOpError("has ")
           << found << " rows, and " << all(rows) << " for all members together";
  return success();
}

LogicalResult AllReduceOp::verify() {
  // C1
  if (getAxes().empty())
    return emitOpError("needs an axis");
  llvm::SmallDenseSet<Attribute> axes;
  for (Attribute axis : getAxes())
    if (!axes.insert(axis).second)
      return emitOpError("is over ") << axis << " twice";
  // C2
  if (getInput().getType() != getResult().getType())
    return emitOpError("gives ") << getResult().getType() << ": expected " << getInput().getType();
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyRowsOf(*this, getRows())))
    return failure();
  // C1
  Shape shape(shapeOf(getInput()));
  if (failed(expectRowsOfAll(*this, getRows())))
    return failure();
  // C2
  ArrayRef<int64_t> result = shapeOf(getResult());
  if (result.empty() || !llvm::is_contained(getRows(), result[0]))
    return emitOpError("gives as many rows as no member gets");
  shape[0] = result[0];
  return expectShape(*this, "the result", getResult(), shape);
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
  if (failed(expectRowsOfAll(*this, getRows())))
    return failure();
  // C2
  ArrayRef<int64_t> result = shapeOf(getResult());
  int64_t members = getRows().size();
  if (result.empty() || result[0] % members != 0 ||
      !llvm::is_contained(getRows(), result[0] / members))
    return emitOpError("needs as many rows from each member as it has for itself");
  shape[0] = result[0];
  return expectShape(*this, "the result", getResult(), shape);
}

LogicalResult CollectivePermuteOp::verify() {
  if (failed(verifyRowsOf(*this, getRows())))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(getInput());
  if (llvm::any_of(getRows(), [&](int64_t rows) { return rows != shape[0]; }))
    return emitOpError("has ") << shape[0] << " rows, and another member has not";
  return expectShape(*this, "the result", getResult(), shape);
}

/// C1 of a pack, and what its C2 says of the result.
static FailureOr<RankedTensorType> typeOfPacked(Operation *op, ValueRange values) {
  if (values.empty())
    return op->emitOpError("needs at least one part");
  RankedTensorType first = tensorType(values.front());
  if (first.getRank() != 1 && first.getRank() != 2)
    return op->emitOpError("has parts of one dimension or two, and one has ") << first.getRank();
  Shape shape(first.getShape());
  shape.back() = 0;
  for (Value value : values) {
    RankedTensorType one = tensorType(value);
    if (one.getElementType() != first.getElementType() || one.getRank() != first.getRank() ||
        one.getShape().drop_back() != first.getShape().drop_back())
      return op->emitOpError("has parts of one element type with equally many rows, and ")
             << one << " is with " << first;
    shape.back() += one.getShape().back();
  }
  return first.clone(shape);
}

static LogicalResult verifyPacked(Operation *op, Value whole, ValueRange parts) {
  auto type = typeOfPacked(op, parts);
  if (failed(type))
    return failure();
  // C2
  if (*type != whole.getType())
    return op->emitOpError("has ")
           << whole.getType() << ": expected " << *type << ", its parts side by side";
  return success();
}

LogicalResult PackOp::verify() { return verifyPacked(*this, getResult(), getInputs()); }
LogicalResult UnpackOp::verify() { return verifyPacked(*this, getInput(), getParts()); }

} // namespace weir
