//===- Elements.cpp - Scalars of convolutions and pools ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/convolution/Convolution.h"

using namespace mlir;

namespace weir {

using Indices = SmallVector<Value>;
using Bounds = SmallVector<std::pair<Value, Value>>;

// The positions y of a result for which tap `k` (an index) of position `stride * y + k - padding`
// lies within [0, size): [ceil((padding - k) / stride), ceil((size + padding - k) / stride)),
// within [0, count).
static std::pair<Value, Value> positionsOfTap(Scalars &s, Value k, int64_t stride, int64_t padding,
                                              int64_t size, int64_t count) {
  Value low = s.ceilDiv(s.max(s.sub(s.index(padding), k), s.index(0)), stride);
  Value high = s.ceilDiv(s.max(s.sub(s.index(size + padding), k), s.index(0)), stride);
  return {low, s.min(high, s.index(count))};
}

// stride * y + k - padding
static Value imagePosition(Scalars &s, Value y, Value k, int64_t stride, int64_t padding) {
  return s.sub(s.add(s.mul(y, stride), k), s.index(padding));
}

Value ConvolutionOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  auto image = shapeOf(getInput()).drop_front(2), window = shapeOf(getWeight()).drop_front(2);
  Bounds bounds{{s.index(0), s.index(shapeOf(getWeight())[1])}};
  for (unsigned d = 0; d < 2;
       ++d) { // Taps that fall into the image: stride * y + k - padding in [0, size).
    Value origin = s.sub(s.mul(indices[2 + d], getStrides()[d]), s.index(getPadding()[d]));
    Value low = s.max(s.sub(s.index(0), origin), s.index(0));
    Value high = s.min(s.sub(s.index(image[d]), origin), s.index(window[d]));
    bounds.push_back(getPadding()[d] == 0 ? std::pair{s.index(0), s.index(window[d])}
                                          : std::pair{low, high});
  }
  return s.sum(bounds, [&](ValueRange at) {
    Value y = imagePosition(s, indices[2], at[1], getStrides()[0], getPadding()[0]);
    Value x = imagePosition(s, indices[3], at[2], getStrides()[1], getPadding()[1]);
    Value element = operand(0, {indices[0], at[0], y, x});
    return s.product(*this, element, operand(1, {indices[1], at[0], at[1], at[2]}));
  });
}

// The windows that cover position `i` of an image: result positions y with i + padding - stride * y
// in [0, window), which is [ceil((i + padding - window + 1) / stride), (i + padding) / stride],
// within [0, count).
static std::pair<Value, Value> windowsOver(Scalars &s, Value i, int64_t window, int64_t stride,
                                           int64_t padding, int64_t count) {
  Value shifted = s.add(i, s.index(padding));
  Value low = s.ceilDiv(s.max(s.sub(shifted, s.index(window - 1)), s.index(0)), stride);
  Value high = s.add(s.div(shifted, stride), s.index(1));
  return {low, s.min(high, s.index(count))};
}

Value ConvolutionInputGradOp::element(OpBuilder &builder, unsigned, ValueRange indices,
                                      ElementOf operand) {
  Scalars s(builder, getLoc());
  auto weight = shapeOf(getWeight()), cotangent = shapeOf(getCotangent());
  Bounds bounds{{s.index(0), s.index(weight[0])}};
  for (unsigned d = 0; d < 2; ++d)
    bounds.push_back(windowsOver(s, indices[2 + d], weight[2 + d], getStrides()[d], getPadding()[d],
                                 cotangent[2 + d]));
  return s.sum(bounds, [&](ValueRange at) {
    Indices tap;
    for (unsigned d = 0; d < 2; ++d)
      tap.push_back(s.sub(s.add(indices[2 + d], s.index(getPadding()[d])),
                          s.mul(at[1 + d], getStrides()[d])));
    Value element = operand(0, {indices[0], at[0], at[1], at[2]});
    return s.product(*this, element, operand(1, {at[0], indices[1], tap[0], tap[1]}));
  });
}

Value ConvolutionWeightGradOp::element(OpBuilder &builder, unsigned, ValueRange indices,
                                       ElementOf operand) {
  Scalars s(builder, getLoc());
  auto input = shapeOf(getInput()), cotangent = shapeOf(getCotangent());
  Bounds bounds{{s.index(0), s.index(input[0])}};
  for (unsigned d = 0; d < 2; ++d)
    bounds.push_back(positionsOfTap(s, indices[2 + d], getStrides()[d], getPadding()[d],
                                    input[2 + d], cotangent[2 + d]));
  return s.sum(bounds, [&](ValueRange at) {
    Value y = imagePosition(s, at[1], indices[2], getStrides()[0], getPadding()[0]);
    Value x = imagePosition(s, at[2], indices[3], getStrides()[1], getPadding()[1]);
    Value element = operand(0, {at[0], indices[1], y, x});
    return s.product(*this, element, operand(1, {at[0], indices[0], at[1], at[2]}));
  });
}

// The indices of tap (ky, kx) of the window at the last two of `indices`.
static Indices windowElement(Scalars &s, ValueRange indices, ValueRange tap,
                             ArrayRef<int64_t> strides) {
  Indices source(indices);
  for (unsigned d = 0; d < 2; ++d) {
    Value &position = source[source.size() - 2 + d];
    position = s.add(s.mul(position, strides[d]), tap[d]);
  }
  return source;
}

Value MaxPoolOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Value lowest = s.f32(-std::numeric_limits<double>::infinity());
  return s.loops(getWindow(), lowest,
                 [&](ValueRange tap, ValueRange carried) -> SmallVector<Value> {
                   Value element = operand(0, windowElement(s, indices, tap, getStrides()));
                   return {arith::MaximumFOp::create(builder, getLoc(), carried[0], element)};
                 })[0];
}

Value MaxPoolGradOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  auto cotangent = shapeOf(getCotangent());
  size_t rank = cotangent.size();
  Bounds bounds;
  for (unsigned d = 0; d < 2; ++d)
    bounds.push_back(windowsOver(s, indices[rank - 2 + d], getWindow()[d], getStrides()[d], 0,
                                 cotangent[rank - 2 + d]));
  return s.sum(bounds, [&](ValueRange at) {
    Indices window(indices.drop_back(2));
    llvm::append_range(window, at);
    // The tap of the window's first largest element.
    Indices initial{s.f32(-std::numeric_limits<double>::infinity()), s.index(0)};
    Value best = s.loops(getWindow(), initial,
                         [&](ValueRange tap, ValueRange carried) -> SmallVector<Value> {
                           Value element = operand(0, windowElement(s, window, tap, getStrides()));
                           Value larger = s.larger(element, carried[0]);
                           return {s.select(larger, element, carried[0]),
                                   s.select(larger, s.linear(tap, getWindow()), carried[1])};
                         })[1];
    Indices tap;
    for (unsigned d = 0; d < 2; ++d)
      tap.push_back(s.sub(indices[rank - 2 + d], s.mul(at[d], getStrides()[d])));
    Value mine = s.compare(arith::CmpIPredicate::eq, best, s.linear(tap, getWindow()));
    return s.select(mine, operand(1, window), s.f32(0));
  });
}

} // namespace weir
