//===- Decompose.cpp - Composites of rows as plain ops ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/kernel/RowBuilder.h"
#include "ir/weir/rows/Rows.h"

using namespace mlir;

namespace weir {

SmallVector<Value> NormalizeOp::decompose(OpBuilder &builder) {
  RowBuilder b(builder, *this);
  Value x = getInput(), mean = b.average(x), centred = b.sub(x, b.spread(mean, x));
  Value variance = b.average(b.mul(centred, centred));
  Value rstd = b.rsqrt(b.add(variance, b.constant(variance, getEps().convertToDouble())));
  return {b.mul(centred, b.spread(rstd, x)), mean, rstd};
}

SmallVector<Value> NormalizeGradOp::decompose(OpBuilder &builder) {
  RowBuilder b(builder, *this);
  Value x = getInput(), g = getCotangent(), rstd = b.spread(getRstd(), x);
  Value y = b.mul(b.sub(x, b.spread(getMean(), x)), rstd);
  Value centred = b.sub(g, b.spread(b.average(g), x));
  Value along = b.mul(y, b.spread(b.average(b.mul(g, y)), x));
  return {b.mul(rstd, b.sub(centred, along))};
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &builder) {
  RowBuilder b(builder, *this);
  Value x = getInput(), shifted = b.sub(x, b.spread(b.reduce(x, Reduction::max), x));
  return {b.sub(shifted, b.spread(b.log(b.sum(b.exp(shifted))), x))};
}

SmallVector<Value> SoftmaxCrossEntropyOp::decompose(OpBuilder &builder) {
  RowBuilder b(builder, *this);
  Value logits = getLogits(), largest = b.reduce(logits, Reduction::max);
  Value sum = b.sum(b.exp(b.sub(logits, b.spread(largest, logits))));
  Value logSum = b.log(sum);
  // A sum with one term that is not zero is exact.
  Value labelled = b.sum(b.select(b.isLabel(logits, getLabels()), logits, b.constant(logits, 0)));
  // Not log_sum_exp less the logit: of a confident row that is a small difference of large
  // numbers.
  Value loss = b.add(logSum, b.sub(largest, labelled));
  return {loss, b.add(largest, logSum)};
}

SmallVector<Value> SoftmaxCrossEntropyGradOp::decompose(OpBuilder &builder) {
  RowBuilder b(builder, *this);
  Value logits = getLogits();
  Value probability = b.exp(b.sub(logits, b.spread(getLogSumExp(), logits)));
  Value one =
      b.select(b.isLabel(logits, getLabels()), b.constant(logits, 1), b.constant(logits, 0));
  return {b.mul(b.sub(probability, one), b.spread(getCotangent(), logits))};
}

} // namespace weir
