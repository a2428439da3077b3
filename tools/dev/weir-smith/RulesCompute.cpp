//===- RulesCompute.cpp - Reductions, products, convolutions --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/reduction/Reduction.h"
#include "tools/dev/weir-smith/Rules.h"

using namespace mlir;

namespace weir::smith {
namespace {

void reduce(Scope &s) {
  Value value = s.random().chance(0.85) ? s.any(Element::f32, 0, 4) : s.any(Element::i32, 1, 4);
  SmallVector<int64_t> axes;
  int64_t rank = tensorType(value).getRank();
  // Mostly leading or trailing axes, as programs have; any at times.
  int64_t cut = s.random().below(rank + 1), kind = s.random().below(3);
  for (int64_t d = 0; d < rank; ++d)
    if (kind == 0 ? d < cut : kind == 1 ? d >= cut : s.random().chance(0.5))
      axes.push_back(d);
  s.give(s.make<ReduceOp>(
      value, s.random().one({Reduction::sum, Reduction::sum, Reduction::max, Reduction::min}),
      axes));
}

void argmax(Scope &s) {
  Value value = s.random().chance(0.8) ? s.any(Element::f32, 1, 4) : s.any(Element::i32, 1, 4);
  s.give(s.make<ArgMaxOp>(value, s.random().below(tensorType(value).getRank())));
}

/// At times what a product multiplies is of low precision. Not where a gradient goes through it:
/// the cotangents are rounded too then, which no difference of the loss is.
std::pair<Value, Value> factors(Scope &s, Value lhs, Value rhs) {
  auto active = [&](Value value) {
    return s.isActive(value) || (s.outer && s.outer->isActive(value));
  };
  if (active(lhs) || active(rhs) || s.random().chance(0.4))
    return {lhs, rhs};
  auto low = [&](Value value) -> Value {
    if (s.random().chance(0.2))
      return value;
    return s.make<CastOp>(s.type(shapeOf(value), lowElement(s.random())), value);
  };
  return {low(lhs), low(rhs)};
}

void matmul(Scope &s) {
  Value lhs = s.any(Element::f32, 2, 4);
  bool transposeLhs = s.random().chance(0.4), transposeRhs = s.random().chance(0.4);
  Shape shape(shapeOf(lhs));
  size_t rank = shape.size();
  int64_t inner = shape[rank - (transposeLhs ? 2 : 1)], columns = s.size();
  Shape other(shape);
  other[rank - 2] = transposeRhs ? columns : inner;
  other[rank - 1] = transposeRhs ? inner : columns;
  if (ShapedType::getNumElements(other) > s.mostElements())
    throw Refused();
  auto [left, right] = factors(s, lhs, s.shaped(other));
  s.give(s.make<MatmulOp>(left, right, transposeLhs, transposeRhs));
}

/// The sizes of a convolution; the three ops are its three operands' worth.
struct Convolution {
  Shape input, weight, result;
  SmallVector<int64_t, 2> strides, padding;
};

Convolution convolutionSizes(Scope &s, std::optional<Shape> input = {}) {
  Random &random = s.random();
  Convolution sizes;
  sizes.input = input ? *input
                      : Shape{1 + random.below(3), 1 + random.below(4), 1 + random.below(9),
                              1 + random.below(9)};
  sizes.padding = {random.below(3), random.below(3)};
  sizes.strides = {1 + random.below(2), 1 + random.below(2)};
  auto kernel = [&](int d) {
    return 1 + random.below(std::min<int64_t>(4, sizes.input[2 + d] + 2 * sizes.padding[d]));
  };
  sizes.weight = {1 + random.below(6), sizes.input[1], kernel(0), kernel(1)};
  sizes.result = convolutionShape(sizes.input, sizes.weight, sizes.strides, sizes.padding);
  if (ShapedType::getNumElements(sizes.result) > s.mostElements() ||
      ShapedType::getNumElements(sizes.weight) > s.mostElements())
    throw Refused();
  return sizes;
}

void convolution(Scope &s) {
  if (s.random().chance(0.5)) {
    Value input = s.any(Element::f32, 4, 4);
    if (shapeOf(input)[1] > 9)
      throw Refused();
    Convolution sizes = convolutionSizes(s, Shape(shapeOf(input)));
    auto [images, weight] = factors(s, input, s.shaped(sizes.weight));
    s.give(s.make<ConvolutionOp>(images, weight, sizes.strides, sizes.padding));
    return;
  }
  Convolution sizes = convolutionSizes(s);
  s.give(s.make<ConvolutionOp>(s.shaped(sizes.input), s.shaped(sizes.weight), sizes.strides,
                               sizes.padding));
}

void convolutionInputGrad(Scope &s) {
  Convolution sizes = convolutionSizes(s);
  s.give(s.make<ConvolutionInputGradOp>(s.type(sizes.input), s.shaped(sizes.result),
                                        s.shaped(sizes.weight), sizes.strides, sizes.padding,
                                        TypeAttr()));
}

void convolutionWeightGrad(Scope &s) {
  Convolution sizes = convolutionSizes(s);
  s.give(s.make<ConvolutionWeightGradOp>(s.type(sizes.weight), s.shaped(sizes.input),
                                         s.shaped(sizes.result), sizes.strides, sizes.padding,
                                         TypeAttr()));
}

struct Pool {
  Value input;
  SmallVector<int64_t, 2> window, strides;
};

Pool pool(Scope &s) {
  Pool sizes{s.any(Element::f32, 2, 4), {}, {}};
  for (int64_t size : shapeOf(sizes.input).take_back(2)) {
    sizes.window.push_back(1 + s.random().below(std::min<int64_t>(3, size)));
    sizes.strides.push_back(s.random().chance(0.5) ? sizes.window.back() : 1 + s.random().below(3));
  }
  return sizes;
}

void maxPool(Scope &s) {
  Pool sizes = pool(s);
  s.give(s.make<MaxPoolOp>(sizes.input, sizes.window, sizes.strides));
}

void maxPoolGrad(Scope &s) {
  Pool sizes = pool(s);
  Value cotangent = s.shaped(poolShape(shapeOf(sizes.input), sizes.window, sizes.strides));
  s.give(s.make<MaxPoolGradOp>(sizes.input.getType(), sizes.input, cotangent, sizes.window,
                               sizes.strides));
}

void random(Scope &s) {
  Value round = s.round ? s.round : s.constant(s.type({}, Element::i32), 0);
  s.give(s.make<RandomOp>(s.type(s.shape(0, 3)), s.runScalar("seed"), s.runScalar("step"), round,
                          s.random().one({Distribution::uniform, Distribution::normal}),
                          uint64_t(s.random().below(int64_t(1) << 62))));
}

} // namespace

ArrayRef<Rule> computeRules() {
  static constexpr Rule all[] = {
      {"reduce", reduce},
      {"argmax", argmax},
      {"matmul", matmul},
      {"convolution", convolution},
      {"convolution_input_grad", convolutionInputGrad},
      {"convolution_weight_grad", convolutionWeightGrad},
      {"max_pool", maxPool},
      {"max_pool_grad", maxPoolGrad},
      {"random", random},
  };
  return all;
}

} // namespace weir::smith
