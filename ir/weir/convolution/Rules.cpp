//===- Rules.cpp - How convolutions and pools are checked, cast, cut and priced ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Rules.h"

using namespace mlir;

namespace weir {

void ConvolutionOp::build(OpBuilder &builder, OperationState &state, Value input, Value weight,
                          ArrayRef<int64_t> strides, ArrayRef<int64_t> padding) {
  build(builder, state,
        typeLike(input, convolutionShape(shapeOf(input), shapeOf(weight), strides, padding)), input,
        weight, strides, padding, TypeAttr());
}

void MaxPoolOp::build(OpBuilder &builder, OperationState &state, Value input,
                      ArrayRef<int64_t> window, ArrayRef<int64_t> strides) {
  build(builder, state, typeLike(input, poolShape(shapeOf(input), window, strides)), input, window,
        strides);
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

CastRule ConvolutionOp::castRule() { return floats(*this, true); }
CastRule ConvolutionInputGradOp::castRule() { return floats(*this, true); }
CastRule ConvolutionWeightGradOp::castRule() { return floats(*this, true); }
CastRule MaxPoolOp::castRule() { return floats(*this); }
// The windows over one element may overlap.
CastRule MaxPoolGradOp::castRule() { return floats(*this, true); }

// The three convolutions multiply each result of the forward one with each weight of one output
// channel.
static Cost convolutionCost(Operation *op, Value result, Value weight) {
  return costOf(op, 2 * elements(result) * llvm::product_of(shapeOf(weight).drop_front()));
}
Cost ConvolutionOp::cost() { return convolutionCost(*this, getResult(), getWeight()); }
Cost ConvolutionInputGradOp::cost() { return convolutionCost(*this, getCotangent(), getWeight()); }
Cost ConvolutionWeightGradOp::cost() { return convolutionCost(*this, getCotangent(), getResult()); }

Cost MaxPoolOp::cost() {
  return costOf(*this, elements(getResult()) * llvm::product_of(getWindow()));
}
Cost MaxPoolGradOp::cost() {
  return costOf(*this, elements(getCotangent()) * (llvm::product_of(getWindow()) + 1));
}

// The images, weights and results of a convolution: [n, c, ..], [o, c, ..] and [n, o, ..]; `summed`
// is the letter that the op's result lacks. Places are whole: neighbours overlap.
static ShardRule
convolutionRule(Value image, Value weight, Value result, char summed,
                llvm::function_ref<void(Rule &, Factors, Factors, Factors)> arrange) {
  Rule rule;
  auto kind = [&](char letter) { return letter == summed ? Kind::sum : Kind::parallel; };
  unsigned n = rule.factor(shapeOf(image)[0], kind('n')),
           c = rule.factor(shapeOf(image)[1], kind('c'));
  unsigned o = rule.factor(shapeOf(weight)[0], kind('o'));
  auto places = [&](Value value) {
    return rule.factors(shapeOf(value).drop_front(2), Kind::whole);
  };
  Factors images = joined({n, c}, places(image)), weights = joined({o, c}, places(weight));
  Factors results = joined({n, o}, places(result));
  arrange(rule, images, weights, results);
  return rule.rule;
}

ShardRule ConvolutionOp::shardRule() {
  return convolutionRule(
      getInput(), getWeight(), getResult(), 'c',
      [](Rule &rule, Factors x, Factors w, Factors y) { rule.operand(x).operand(w).result(y); });
}
ShardRule ConvolutionInputGradOp::shardRule() {
  return convolutionRule(
      getResult(), getWeight(), getCotangent(), 'o',
      [](Rule &rule, Factors x, Factors w, Factors y) { rule.operand(y).operand(w).result(x); });
}
ShardRule ConvolutionWeightGradOp::shardRule() {
  return convolutionRule(
      getInput(), getResult(), getCotangent(), 'n',
      [](Rule &rule, Factors x, Factors w, Factors y) { rule.operand(x).operand(y).result(w); });
}

ShardRule MaxPoolOp::shardRule() {
  Rule rule;
  auto input = shapeOf(getInput());
  Factors leading = rule.factors(input.drop_back(2)),
          places = rule.factors(input.take_back(2), Kind::whole);
  Factors windows = rule.factors(shapeOf(getResult()).take_back(2), Kind::whole);
  return rule.operand(joined(leading, places)).result(joined(leading, windows)).rule;
}
ShardRule MaxPoolGradOp::shardRule() {
  Rule rule;
  auto input = shapeOf(getInput());
  Factors leading = rule.factors(input.drop_back(2)),
          places = rule.factors(input.take_back(2), Kind::whole);
  Factors windows = rule.factors(shapeOf(getCotangent()).take_back(2), Kind::whole);
  Factors image = joined(leading, places);
  return rule.operand(image).operand(joined(leading, windows)).result(image).rule;
}

} // namespace weir
