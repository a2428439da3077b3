//===- Rules.cpp - Verifiers and costs of convolutions and pools ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/convolution/Convolution.h"

using namespace mlir;

namespace weir {

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(cotangentType(op.getInput())
                      .clone(convolutionShape(shapeOf(op.getInput()), shapeOf(op.getWeight()),
                                              op.getStrides(), op.getPadding())));
  return success();
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  Value input = op.getInput();
  types.push_back(typeLike(input, poolShape(shapeOf(input), op.getWindow(), op.getStrides())));
  return success();
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
  if (padding[0] > INT32_MAX || padding[1] > INT32_MAX)
    return op->emitOpError("has padding that is larger than any tensor");
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

Cost MaxPoolOp::cost() {
  return costOf(*this, double(elements(getResult())) * double(llvm::product_of(getWindow())));
}
Cost MaxPoolGradOp::cost() {
  return costOf(*this,
                double(elements(getCotangent())) * double(llvm::product_of(getWindow()) + 1));
}

} // namespace weir
