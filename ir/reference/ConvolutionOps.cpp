//===- ConvolutionOps.cpp - Convolutions and pooling, reference semantics -===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution and its two gradients walk the same taps: input element, weight element and result
// element that meet.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Loops.h"
#include "ir/reference/Models.h"
#include "ir/weir/convolution/Convolution.h"

namespace weir::reference {
namespace {

template <class Op> ConvolutionSizes sizesOf(Op op, const Tensor &input, const Tensor &weight) {
  return {input.shape[0],  input.shape[1],  input.shape[2],  input.shape[3], weight.shape[0],
          weight.shape[2], weight.shape[3], op.getStrides(), op.getPadding()};
}

Tensors convolution(ConvolutionOp op, Inputs in, Interpreter &interpreter) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  interpreter.multiplyAdds += addConvolution(sizesOf(op, in[0], in[1]), in[0].values.data(),
                                             in[1].values.data(), result.values.data());
  return results;
}

Tensors convolutionInputGrad(ConvolutionInputGradOp op, Inputs in, Interpreter &interpreter) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  interpreter.multiplyAdds += addInputGradient(sizesOf(op, result, in[1]), result.values.data(),
                                               in[1].values.data(), in[0].values.data());
  return results;
}

Tensors convolutionWeightGrad(ConvolutionWeightGradOp op, Inputs in, Interpreter &interpreter) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  interpreter.multiplyAdds += addWeightGradient(sizesOf(op, in[0], result), in[0].values.data(),
                                                result.values.data(), in[1].values.data());
  return results;
}

/// Calls `visit(largest, i)` with where the input has the largest element, the first of equal ones,
/// of the window of every result i.
template <class Op, class Visit>
void forEachWindow(Op op, const Tensor &input, llvm::ArrayRef<int64_t> result, Visit visit) {
  size_t rank = result.size();
  int64_t height = input.shape[rank - 2], width = input.shape[rank - 1], at = 0;
  int64_t rows = result[rank - 2], columns = result[rank - 1];
  int64_t planes = llvm::product_of(result.drop_back(2));
  for (int64_t plane = 0; plane < planes; ++plane)
    for (int64_t y = 0; y < rows; ++y)
      for (int64_t x = 0; x < columns; ++x) {
        int64_t first = (plane * height + y * op.getStrides()[0]) * width + x * op.getStrides()[1];
        int64_t best = first;
        for (int64_t i = 0; i < op.getWindow()[0]; ++i)
          for (int64_t j = 0; j < op.getWindow()[1]; ++j)
            if (isLarger(input.values[first + i * width + j], input.values[best]))
              best = first + i * width + j;
        visit(best, at++);
      }
}

Tensors maxPool(MaxPoolOp op, Inputs in) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  forEachWindow(op, in[0], result.shape,
                [&](int64_t best, int64_t i) { result.values[i] = in[0].values[best]; });
  return results;
}

Tensors chosenMaxPool(MaxPoolOp op, Inputs in, Before before) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  forEachWindow(op, before(0), result.shape,
                [&](int64_t best, int64_t i) { result.values[i] = in[0].values[best]; });
  return results;
}

Tensors maxPoolGrad(MaxPoolGradOp op, Inputs in) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  forEachWindow(op, in[0], in[1].shape,
                [&](int64_t best, int64_t i) { result.values[best] += in[1].values[i]; });
  return results;
}

} // namespace

void attachConvolutions(mlir::MLIRContext &context) {
  attach<ConvolutionOp, convolution>(context);
  attach<ConvolutionInputGradOp, convolutionInputGrad>(context);
  attach<ConvolutionWeightGradOp, convolutionWeightGrad>(context);
  attach<MaxPoolOp, maxPool, chosenMaxPool>(context);
  attach<MaxPoolGradOp, maxPoolGrad>(context);
}

} // namespace weir::reference
