//===- GradientsCompute.cpp - Gradients of reductions and products --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gradient's sums are kept in the same type as the op's own (`accumulate`).
//
//===----------------------------------------------------------------------===//

#include "ir/weir/GradientFormula.h"

namespace weir {
namespace {

using mlir::ArrayRef;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::SmallVectorImpl;
using mlir::Value;

/// Repeats a value along the axes that a reduction of `like` removed.
Term spread(Formula t, Value value, Value like, ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> kept;
  for (int64_t d = 0; d < static_cast<int64_t>(shapeOf(like).size()); ++d)
    if (!llvm::is_contained(axes, d))
      kept.push_back(d);
  return t.build<BroadcastOp>(like.getType(), value, ArrayRef<int64_t>(kept));
}

/// Repeats a value per row along the last dimension.
Term spreadRow(Formula t, Value value, Value like) {
  return spread(t, value, like, {static_cast<int64_t>(shapeOf(like).size()) - 1});
}

/// A sum where either part may be missing.
Value plus(Formula t, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return t(a) + t(b);
}

} // namespace

LogicalResult ReduceOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value x = getInput();
  if (getKind() == Reduction::sum) {
    operandCotangents.push_back(spread(t, cotangents[0], x, getAxes()));
    return mlir::success();
  }
  Term attained = compare(Predicate::eq, t(x), spread(t, getResult(), x, getAxes()));
  Term ones = t.build<CastOp>(x.getType(), attained);
  Term count = t.build<ReduceOp>(ones, Reduction::sum, getAxes());
  Term part = spread(t, t(cotangents[0]) / count, x, getAxes());
  operandCotangents.push_back(select(attained, part, part.number(0)));
  return mlir::success();
}

// With A and B the matrices that are multiplied (op(lhs), op(rhs)): A' = g B^T, B' = A^T g, stored
// as the operands are.
LogicalResult MatmulOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value a = getLhs(), b = getRhs(), g = cotangents[0];
  bool ta = getTransposeLhs(), tb = getTransposeRhs();
  auto product = [&](Value like, Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) {
    return t.build<MatmulOp>(like.getType(), lhs, rhs, transposeLhs, transposeRhs,
                             getAccumulateAttr());
  };
  operandCotangents.push_back(ta ? product(a, b, g, tb, true) : product(a, g, b, false, !tb));
  operandCotangents.push_back(tb ? product(b, g, a, true, ta) : product(b, a, g, !ta, false));
  return mlir::success();
}

// A convolution and its two gradients are the three partial derivatives of one trilinear form in
// input, weight and result: each one's gradients are the other two.
LogicalResult ConvolutionOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<ConvolutionInputGradOp>(getInput().getType(), cotangents[0], getWeight(),
                                       getStrides(), getPadding(), getAccumulateAttr()),
       t.build<ConvolutionWeightGradOp>(getWeight().getType(), getInput(), cotangents[0],
                                        getStrides(), getPadding(), getAccumulateAttr())});
  return mlir::success();
}

LogicalResult ConvolutionInputGradOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                          SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<ConvolutionOp>(getCotangent().getType(), cotangents[0], getWeight(), getStrides(),
                              getPadding(), getAccumulateAttr()),
       t.build<ConvolutionWeightGradOp>(getWeight().getType(), cotangents[0], getCotangent(),
                                        getStrides(), getPadding(), getAccumulateAttr())});
  return mlir::success();
}

LogicalResult ConvolutionWeightGradOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                           SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<ConvolutionInputGradOp>(getInput().getType(), getCotangent(), cotangents[0],
                                       getStrides(), getPadding(), getAccumulateAttr()),
       t.build<ConvolutionOp>(getCotangent().getType(), getInput(), cotangents[0], getStrides(),
                              getPadding(), getAccumulateAttr())});
  return mlir::success();
}

LogicalResult MaxPoolOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                             SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.push_back(t.build<MaxPoolGradOp>(getInput().getType(), getInput(),
                                                     cotangents[0], getWindow(), getStrides()));
  return mlir::success();
}

// With n the row's length: d mean / dx = 1 / n, d rstd / dx = -rstd^2 * normalized / n.
LogicalResult NormalizeOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value x = getInput(), result;
  double n = static_cast<double>(shapeOf(x).back());
  if (Value g = cotangents[0])
    result = t.build<NormalizeGradOp>(x.getType(), x, getMean(), getRstd(), g, getAccumulateAttr());
  if (Value g = cotangents[1])
    result = plus(t, result, spreadRow(t, t(g) / n, x));
  if (Value g = cotangents[2]) {
    Term rstd = t(getRstd());
    Term slope = -1 / n * (t(g) * rstd * rstd);
    result = plus(t, result, spreadRow(t, slope, x) * t(getNormalized()));
  }
  operandCotangents.push_back(result);
  return mlir::success();
}

LogicalResult SoftmaxCrossEntropyOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value x = getLogits(), result;
  if (Value g = cotangents[0])
    result = t.build<SoftmaxCrossEntropyGradOp>(x.getType(), x, getLabels(), getLogSumExp(), g);
  if (Value g = cotangents[1]) {
    Term softmax = exp(t(x) - spreadRow(t, getLogSumExp(), x));
    result = plus(t, result, softmax * spreadRow(t, g, x));
  }
  operandCotangents.assign({result, Value()});
  return mlir::success();
}

LogicalResult AttendOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[1])
    return emitOpError("has no gradient through its log_sum_exp");
  auto gradient = AttendGradOp::create(builder, getLoc(), getQuery().getType(), getKey().getType(),
                                       getValue().getType(), getQuery(), getKey(), getValue(),
                                       getResult(), getLogSumExp(), cotangents[0], getScaleAttr(),
                                       getCausalAttr(), getAccumulateAttr());
  operandCotangents.assign(gradient->result_begin(), gradient->result_end());
  return mlir::success();
}

} // namespace weir
