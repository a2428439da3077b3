//===- VerifyCompute.cpp - Verifiers of reductions, products and composites -===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"

using namespace mlir;

namespace weir {

LogicalResult ReduceOp::verify() {
  // C1
  int64_t rank = tensorType(getInput()).getRank(), last = -1;
  for (int64_t axis : getAxes()) {
    if (axis <= last || axis >= rank)
      return emitOpError() << "needs strictly increasing axes below " << rank;
    last = axis;
  }
  // C2
  if (failed(expectSameElements(*this, getInput(), getResult())))
    return failure();
  return expectShape(*this, "the result", getResult(), withoutAxes(shapeOf(getInput()), getAxes()));
}

LogicalResult ArgMaxOp::verify() {
  // C1
  int64_t axis = getAxis(), rank = tensorType(getInput()).getRank();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "has no axis " << axis << " among " << rank;
  // C2
  return expectShape(*this, "the result", getResult(), withoutAxes(shapeOf(getInput()), axis));
}

LogicalResult MatmulOp::verify() {
  auto lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  // C1
  if (lhs.size() < 2 || lhs.size() != rhs.size() || lhs.drop_back(2) != rhs.drop_back(2))
    return emitOpError() << "needs equal ranks of at least 2 and equal leading dimensions, but has "
                         << printed(lhs) << " and " << printed(rhs);
  // C2
  size_t rank = lhs.size();
  int64_t left = lhs[rank - (getTransposeLhs() ? 2 : 1)],
          right = rhs[rank - (getTransposeRhs() ? 1 : 2)];
  if (left != right)
    return emitOpError() << "sums over " << left << " elements on the left, but " << right
                         << " on the right";
  // C3
  return expectShape(*this, "the result", getResult(),
                     matmulShape(lhs, rhs, getTransposeLhs(), getTransposeRhs()));
}

// The three convolutions: `result` is that of convolving `input` with `weight`.
static LogicalResult verifyConvolution(Operation *op, StringRef what, Value input, Value weight,
                                       Value result, ArrayRef<int64_t> strides,
                                       ArrayRef<int64_t> padding) {
  // C1 of convolution
  for (Value value : {input, weight, result})
    if (shapeOf(value).size() != 4)
      return op->emitOpError() << "needs four dimensions, but has " << printed(shapeOf(value));
  if (strides.size() != 2 || padding.size() != 2)
    return op->emitOpError("needs two strides and two paddings");
  if (strides[0] <= 0 || strides[1] <= 0 || padding[0] < 0 || padding[1] < 0)
    return op->emitOpError("needs positive strides, and padding that is not negative");
  // C2 of convolution
  if (shapeOf(input)[1] != shapeOf(weight)[1])
    return op->emitOpError() << "has " << shapeOf(input)[1] << " channels in the image, but "
                             << shapeOf(weight)[1] << " in the weight";
  // C3 of convolution, C1 of its gradients
  Shape expected = convolutionShape(shapeOf(input), shapeOf(weight), strides, padding);
  if (expected[2] <= 0 || expected[3] <= 0)
    return op->emitOpError("has an image smaller than the weight");
  return expectShape(op, what, result, expected);
}

LogicalResult ConvolutionOp::verify() {
  return verifyConvolution(*this, "the result", getInput(), getWeight(), getResult(), getStrides(),
                           getPadding());
}

LogicalResult ConvolutionInputGradOp::verify() {
  return verifyConvolution(*this, "the cotangent", getResult(), getWeight(), getCotangent(),
                           getStrides(), getPadding());
}

LogicalResult ConvolutionWeightGradOp::verify() {
  return verifyConvolution(*this, "the cotangent", getInput(), getResult(), getCotangent(),
                           getStrides(), getPadding());
}

static LogicalResult verifyPool(Operation *op, StringRef what, Value input, Value result,
                                ArrayRef<int64_t> window, ArrayRef<int64_t> strides) {
  // C1
  if (shapeOf(input).size() < 2)
    return op->emitOpError("needs two dimensions");
  if (window.size() != 2 || strides.size() != 2)
    return op->emitOpError("needs two window sizes and two strides");
  if (window[0] <= 0 || window[1] <= 0 || strides[0] <= 0 || strides[1] <= 0)
    return op->emitOpError("needs positive window sizes and strides");
  // C2 of max_pool, C1 of its gradient
  Shape expected = poolShape(shapeOf(input), window, strides);
  if (expected[expected.size() - 2] <= 0 || expected.back() <= 0)
    return op->emitOpError("has an image smaller than the window");
  return expectShape(op, what, result, expected);
}

LogicalResult MaxPoolOp::verify() {
  return verifyPool(*this, "the result", getInput(), getResult(), getWindow(), getStrides());
}

LogicalResult MaxPoolGradOp::verify() {
  // C2
  if (getInput().getType() != getResult().getType())
    return emitOpError("needs a result of the input's type");
  return verifyPool(*this, "the cotangent", getInput(), getCotangent(), getWindow(), getStrides());
}

// Whether each of `values` has the shape of `rows` without its last dimension.
static LogicalResult expectRowValues(Operation *op, Value rows,
                                     std::initializer_list<std::pair<StringRef, Value>> values) {
  if (shapeOf(rows).empty() || shapeOf(rows).back() == 0)
    return op->emitOpError("needs a last dimension, and elements in it");
  for (auto [what, value] : values)
    if (failed(expectShape(op, what, value, withoutLast(shapeOf(rows)))))
      return failure();
  return success();
}

LogicalResult NormalizeOp::verify() {
  // C1; the traits compare the other types.
  if (failed(expectRowValues(*this, getInput(), {{"the mean", getMean()}})))
    return failure();
  // C2
  if (getEps().isNegative())
    return emitOpError("needs an eps that is not negative");
  return success();
}

LogicalResult NormalizeGradOp::verify() {
  // C1; the traits compare the other types.
  return expectRowValues(*this, getInput(), {{"the mean", getMean()}});
}

LogicalResult SoftmaxCrossEntropyOp::verify() {
  // C1
  return expectRowValues(*this, getLogits(),
                         {{"the labels", getLabels()}, {"the loss", getLoss()}});
}

LogicalResult SoftmaxCrossEntropyGradOp::verify() {
  // C1
  return expectRowValues(*this, getLogits(),
                         {{"the labels", getLabels()}, {"the cotangent", getCotangent()}});
}

// C1 of attend, and what both ops say of log_sum_exp.
static LogicalResult verifyAttention(Operation *op, Value query, Value key, Value logSumExp,
                                     bool causal) {
  auto q = shapeOf(query), k = shapeOf(key);
  if (q.size() != 4 || k.size() != 4 || q[0] != k[0] || q[1] != k[1] || q[3] != k[3])
    return op->emitOpError() << "needs queries [b, h, t, d] and keys [b, h, s, d], but has "
                             << printed(q) << " and " << printed(k);
  if (causal && k[2] < q[2])
    return op->emitOpError() << "is causal and has more queries (" << q[2] << ") than keys ("
                             << k[2] << ")";
  // C2
  return expectShape(op, "log_sum_exp", logSumExp, withoutLast(q));
}

LogicalResult AttendOp::verify() {
  return verifyAttention(*this, getQuery(), getKey(), getLogSumExp(), getCausal());
}

LogicalResult AttendGradOp::verify() {
  // C1
  return verifyAttention(*this, getQuery(), getKey(), getLogSumExp(), getCausal());
}

} // namespace weir
