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

/// Repeats a value along the axes that a reduction of a `shaped` tensor removed.
Term spread(Formula t, Value value, mlir::ShapedType shaped, ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> kept;
  for (int64_t d = 0; d < shaped.getRank(); ++d)
    if (!llvm::is_contained(axes, d))
      kept.push_back(d);
  return t.build<BroadcastOp>(shaped, value, ArrayRef<int64_t>(kept));
}
Term spread(Formula t, Value value, Value like, ArrayRef<int64_t> axes) {
  return spread(t, value, tensorType(like), axes);
}

/// Repeats a value per row along the last dimension.
Term spreadRow(Formula t, Value value, Value like) {
  return spread(t, value, like, {static_cast<int64_t>(shapeOf(like).size()) - 1});
}

/// The cotangent of `input`, of whose largest (or smallest) elements along `axis` it is given.
Value toTheLargest(Formula t, Reduction kind, Value input, int64_t axis, Value cotangent) {
  Value x = kind == Reduction::max ? input : Value(-t(input));
  mlir::RankedTensorType indices = tensorType(input).clone(t.builder.getI32Type());
  llvm::SmallVector<int64_t> kept(shapeOf(input));
  kept.erase(kept.begin() + axis);
  Value largest = t.build<ArgMaxOp>(indices.clone(kept), x, axis);
  Term here =
      compare(Predicate::eq, t.build<IotaOp>(indices, axis), spread(t, largest, indices, axis));
  Term all = spread(t, cotangent, input, axis);
  return select(here, all, all.number(0));
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
  // One axis after the other, the last one first: the largest element that is found is the first in
  // row-major order. Its place is asked for, and not which elements are equal to the maximum: what
  // is computed again, or stored in a smaller type, may be equal to it nowhere.
  ArrayRef<int64_t> axes = getAxes();
  llvm::SmallVector<Value> inputs;
  for (int64_t axis : llvm::reverse(axes)) {
    inputs.push_back(x);
    x = axis == axes.front() ? getResult()
                             : Value(t.build<ReduceOp>(x, getKind(), ArrayRef<int64_t>(axis)));
  }
  Value cotangent = cotangents[0];
  for (auto [axis, input] : llvm::zip_equal(axes, llvm::reverse(inputs)))
    cotangent = toTheLargest(t, getKind(), input, axis, cotangent);
  operandCotangents.push_back(cotangent);
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
