//===- Scalars.cpp - Scalars of a step, and tensors built from them -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/recipe/Scalars.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

Value scalar(OpBuilder &builder, Location place, double value) {
  auto type = RankedTensorType::get({}, builder.getF32Type());
  return ConstantOp::create(builder, place, type, builder.getF32FloatAttr(value));
}

Value spread(OpBuilder &builder, Location place, Value scalar, ArrayRef<int64_t> shape) {
  if (shape.empty())
    return scalar;
  auto type = RankedTensorType::get(shape, tensorType(scalar).getElementType());
  return BroadcastOp::create(builder, place, type, scalar, ArrayRef<int64_t>());
}

Value sumOfAll(OpBuilder &builder, Location place, Value tensor) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(tensor).getRank()));
  return axes.empty() ? tensor : ReduceOp::create(builder, place, tensor, Reduction::sum, axes);
}

} // namespace weir
