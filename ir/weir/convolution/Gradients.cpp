//===- Gradients.cpp - Gradients of convolutions and pools ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gradient's sums are kept in the same type as the op's own (`accumulate`).
//
//===----------------------------------------------------------------------===//

#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/interfaces/GradientFormula.h"

using namespace mlir;

namespace weir {

// A convolution and its two gradients are the three partial derivatives of one trilinear form in
// input, weight and result: each one's gradients are the other two.
LogicalResult ConvolutionOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<ConvolutionInputGradOp>(cotangentType(getInput()),
                                       asFactor(t, cotangents[0], getWeight()), getWeight(),
                                       getStrides(), getPadding(), getAccumulateAttr()),
       t.build<ConvolutionWeightGradOp>(cotangentType(getWeight()), getInput(),
                                        asFactor(t, cotangents[0], getInput()), getStrides(),
                                        getPadding(), getAccumulateAttr())});
  return success();
}

LogicalResult ConvolutionInputGradOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                          SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<ConvolutionOp>(cotangentType(getCotangent()),
                              asFactor(t, cotangents[0], getWeight()), getWeight(), getStrides(),
                              getPadding(), getAccumulateAttr()),
       t.build<ConvolutionWeightGradOp>(cotangentType(getWeight()),
                                        asFactor(t, cotangents[0], getCotangent()), getCotangent(),
                                        getStrides(), getPadding(), getAccumulateAttr())});
  return success();
}

LogicalResult ConvolutionWeightGradOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                           SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<ConvolutionInputGradOp>(cotangentType(getInput()), getCotangent(),
                                       asFactor(t, cotangents[0], getCotangent()), getStrides(),
                                       getPadding(), getAccumulateAttr()),
       t.build<ConvolutionOp>(cotangentType(getCotangent()), getInput(),
                              asFactor(t, cotangents[0], getInput()), getStrides(), getPadding(),
                              getAccumulateAttr())});
  return success();
}

LogicalResult MaxPoolOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                             SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.push_back(t.build<MaxPoolGradOp>(getInput().getType(), getInput(),
                                                     cotangents[0], getWindow(), getStrides()));
  return success();
}

} // namespace weir
