//===- Rules.cpp - How composites of rows are checked, cast, cut and priced ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Rules.h"

using namespace mlir;

namespace weir {

void NormalizeOp::build(OpBuilder &builder, OperationState &state, Value input, double eps) {
  Type statistic = typeLike(input, withoutLast(shapeOf(input)));
  build(builder, state, {input.getType(), statistic, statistic}, input,
        builder.getF64FloatAttr(eps), TypeAttr());
}

void SoftmaxCrossEntropyOp::build(OpBuilder &builder, OperationState &state, Value logits,
                                  Value labels) {
  Type loss = typeLike(logits, withoutLast(shapeOf(logits)));
  build(builder, state, loss, loss, logits, labels, TypeAttr());
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

CastRule NormalizeOp::castRule() { return floatsBut(*this, true, {}, {1, 2}); }
CastRule NormalizeGradOp::castRule() { return floatsBut(*this, true, {1, 2}, {}); }
CastRule SoftmaxCrossEntropyOp::castRule() { return floatsBut(*this, true, {}, {0, 1}); }
CastRule SoftmaxCrossEntropyGradOp::castRule() { return floatsBut(*this, false, {2, 3}, {}); }

// Per element: two sums, and the operations of the formulas.
Cost NormalizeOp::cost() { return costOf(*this, 6 * elements(getInput())); }
Cost NormalizeGradOp::cost() { return costOf(*this, 9 * elements(getInput())); }
Cost SoftmaxCrossEntropyOp::cost() { return costOf(*this, 4 * elements(getLogits())); }
Cost SoftmaxCrossEntropyGradOp::cost() { return costOf(*this, 4 * elements(getLogits())); }

// Ops on rows: every value has the leading dimensions, and those of full rank a last one that is
// whole.
static ShardRule rowsRule(Operation *op, Value rows) {
  Rule rule;
  Factors leading = rule.factors(shapeOf(rows).drop_back());
  Factors all = joined(leading, rule.factor(shapeOf(rows).back(), Kind::whole));
  auto of = [&](Value value) { return shapeOf(value).size() == all.size() ? all : leading; };
  for (Value operand : op->getOperands())
    rule.operand(of(operand));
  for (Value result : op->getResults())
    rule.result(of(result));
  return rule.rule;
}
ShardRule NormalizeOp::shardRule() { return rowsRule(*this, getInput()); }
ShardRule NormalizeGradOp::shardRule() { return rowsRule(*this, getInput()); }
ShardRule SoftmaxCrossEntropyOp::shardRule() { return rowsRule(*this, getLogits()); }
ShardRule SoftmaxCrossEntropyGradOp::shardRule() { return rowsRule(*this, getLogits()); }

} // namespace weir
