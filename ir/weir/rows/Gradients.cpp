//===- Gradients.cpp - Gradients of composites of rows -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/GradientFormula.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/rows/Rows.h"

using namespace mlir;

namespace weir {

// With n the row's length: d mean / dx = 1 / n, d rstd / dx = -rstd^2 * normalized / n.
LogicalResult NormalizeOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value x = getInput(), result;
  double n = static_cast<double>(shapeOf(x).back());
  if (Value g = cotangents[0])
    result = t.build<NormalizeGradOp>(x, getMean(), getRstd(), g, getAccumulateAttr());
  if (Value g = cotangents[1])
    result = plus(t, result, spreadRow(t, t(g) / n, x));
  if (Value g = cotangents[2]) {
    Term rstd = t(getRstd());
    Term slope = -1 / n * (t(g) * rstd * rstd);
    result = plus(t, result, spreadRow(t, slope, x) * t(getNormalized()));
  }
  operandCotangents.push_back(result);
  return success();
}

// dy_i / dx_j = (i = j) - softmax_j, and softmax = exp(y).
LogicalResult LogSoftmaxOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value y = getResult(), g = cotangents[0];
  Value sum =
      t.build<ReduceOp>(g, Reduction::sum, ArrayRef<int64_t>{int64_t(shapeOf(g).size()) - 1});
  operandCotangents.push_back(t(g) - exp(t(y)) * spreadRow(t, sum, y));
  return success();
}

LogicalResult SoftmaxCrossEntropyOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value x = getLogits(), result;
  if (Value g = cotangents[0])
    result = t.build<SoftmaxCrossEntropyGradOp>(x, getLabels(), getLogSumExp(), g);
  if (Value g = cotangents[1]) {
    Term softmax = exp(t(x) - spreadRow(t, getLogSumExp(), x));
    result = plus(t, result, softmax * spreadRow(t, g, x));
  }
  operandCotangents.assign({result, Value()});
  return success();
}

} // namespace weir
