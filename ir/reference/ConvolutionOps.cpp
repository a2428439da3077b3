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

#include "ir/reference/Models.h"

namespace weir::reference {
namespace {

/// Calls visit(input, weight, result) with the offsets of every triple that a convolution
/// multiplies or adds to.
template <class Op, class Visit>
void forEachTap(Op op, const Tensor &input, const Tensor &weight, const Tensor &result,
                Visit visit) {
  int64_t height = input.shape[2], width = input.shape[3];
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> r) {
    int64_t resultOffset = result.offset(r);
    for (int64_t c = 0; c < weight.shape[1]; ++c)
      for (int64_t i = 0; i < weight.shape[2]; ++i)
        for (int64_t j = 0; j < weight.shape[3]; ++j) {
          int64_t y = r[2] * op.getStrides()[0] + i - op.getPadding()[0];
          int64_t x = r[3] * op.getStrides()[1] + j - op.getPadding()[1];
          if (y >= 0 && y < height && x >= 0 && x < width)
            visit(input.offset({r[0], c, y, x}), weight.offset({r[1], c, i, j}), resultOffset);
        }
  });
}

Tensors convolution(ConvolutionOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  forEachTap(op, in[0], in[1], result, [&](int64_t input, int64_t weight, int64_t at) {
    result.values[at] += in[0].values[input] * in[1].values[weight];
  });
  return {result};
}

Tensors convolutionInputGrad(ConvolutionInputGradOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  forEachTap(op, result, in[1], in[0], [&](int64_t input, int64_t weight, int64_t at) {
    result.values[input] += in[0].values[at] * in[1].values[weight];
  });
  return {result};
}

Tensors convolutionWeightGrad(ConvolutionWeightGradOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  forEachTap(op, in[0], result, in[1], [&](int64_t input, int64_t weight, int64_t at) {
    result.values[weight] += in[0].values[input] * in[1].values[at];
  });
  return {result};
}

/// The index of the first largest element of the window at `index`.
template <class Op> Shape largest(Op op, const Tensor &input, llvm::ArrayRef<int64_t> index) {
  size_t rank = index.size();
  Shape best;
  for (int64_t i = 0; i < op.getWindow()[0]; ++i)
    for (int64_t j = 0; j < op.getWindow()[1]; ++j) {
      Shape from(index);
      from[rank - 2] = index[rank - 2] * op.getStrides()[0] + i;
      from[rank - 1] = index[rank - 1] * op.getStrides()[1] + j;
      if (best.empty() || isLarger(input.at(from), input.at(best)))
        best = from;
    }
  return best;
}

Tensors maxPool(MaxPoolOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
    result.at(index) = in[0].at(largest(op, in[0], index));
  });
  return {result};
}

Tensors maxPoolGrad(MaxPoolGradOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  forEachIndex(in[1].shape, [&](llvm::ArrayRef<int64_t> index) {
    result.at(largest(op, in[0], index)) += in[1].at(index);
  });
  return {result};
}

} // namespace

void attachConvolutions(mlir::MLIRContext &context) {
  attach<ConvolutionOp, convolution>(context);
  attach<ConvolutionInputGradOp, convolutionInputGrad>(context);
  attach<ConvolutionWeightGradOp, convolutionWeightGrad>(context);
  attach<MaxPoolOp, maxPool>(context);
  attach<MaxPoolGradOp, maxPoolGrad>(context);
}

} // namespace weir::reference
