//===- Gradients.cpp - Gradients of layout -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These ops are linear: the gradient is the transposed map.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/GradientFormula.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

namespace weir {

using mlir::ArrayRef;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::SmallVectorImpl;
using mlir::Value;

// The sum over what was repeated. Dimensions of size 1 that were repeated come back after the sum.
LogicalResult BroadcastOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  llvm::SmallVector<int64_t> axes, lost;
  size_t next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(to.size()); ++d) {
    bool present = next < from.size() && getDimensions()[next] == d;
    if (!present || from[next] != to[d])
      axes.push_back(d);
    if (present && from[next] != to[d])
      lost.push_back(static_cast<int64_t>(next));
    next += present;
  }
  Value sum = cotangents[0];
  if (!axes.empty())
    sum = t.build<ReduceOp>(sum, Reduction::sum, axes);
  for (int64_t dimension : lost)
    sum = t.build<MergeDimsOp>(sum, dimension, 0);
  operandCotangents.push_back(sum);
  return mlir::success();
}

LogicalResult TransposeOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  llvm::SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dimension] : llvm::enumerate(getPermutation()))
    inverse[dimension] = static_cast<int64_t>(i);
  operandCotangents.push_back(t.build<TransposeOp>(cotangents[0], ArrayRef<int64_t>(inverse)));
  return mlir::success();
}

LogicalResult SplitDimOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                              SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  int64_t count = static_cast<int64_t>(getSizes().size());
  operandCotangents.push_back(
      t.build<MergeDimsOp>(cotangents[0], static_cast<int64_t>(getDimension()), count));
  return mlir::success();
}

LogicalResult MergeDimsOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  ArrayRef<int64_t> sizes = shapeOf(getInput()).slice(getFirst(), getCount());
  operandCotangents.push_back(
      t.build<SplitDimOp>(cotangents[0], static_cast<int64_t>(getFirst()), sizes));
  return mlir::success();
}

LogicalResult SliceOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                           SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.push_back(
      t.build<PadOp>(cotangentType(getInput()), cotangents[0], getOffsets(), getStrides()));
  return mlir::success();
}

LogicalResult PadOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.push_back(
      t.build<SliceOp>(cotangentType(getInput()), cotangents[0], getOffsets(), getStrides()));
  return mlir::success();
}

LogicalResult ConcatOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  size_t rank = shapeOf(getResult()).size();
  llvm::SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  for (Value input : getInputs()) {
    operandCotangents.push_back(t.build<SliceOp>(cotangentType(input), cotangents[0],
                                                 ArrayRef<int64_t>(offsets),
                                                 ArrayRef<int64_t>(strides)));
    offsets[getDimension()] += shapeOf(input)[getDimension()];
  }
  return mlir::success();
}

} // namespace weir
