//===- Rules.cpp - Types, costs and factors of layout --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Rules.h"

using namespace mlir;

namespace weir {

void ConstantOp::build(OpBuilder &builder, OperationState &state, RankedTensorType type,
                       double value) {
  Type element = type.getElementType();
  TypedAttr scalar = isa<FloatType>(element)
                         ? TypedAttr(builder.getFloatAttr(element, value))
                         : TypedAttr(builder.getIntegerAttr(element, int64_t(value)));
  build(builder, state, type, scalar);
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                            SmallVectorImpl<Type> &types) {
  Value input = op.getInput();
  types.push_back(typeLike(input, transposed(shapeOf(input), op.getPermutation())));
  return success();
}

LogicalResult SplitDimOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                           SmallVectorImpl<Type> &types) {
  Value input = op.getInput();
  types.push_back(
      typeLike(input, withReplaced(shapeOf(input), op.getDimension(), 1, op.getSizes())));
  return success();
}

LogicalResult MergeDimsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                            SmallVectorImpl<Type> &types) {
  Value input = op.getInput();
  int64_t first = op.getFirst(), count = op.getCount();
  int64_t size = llvm::product_of(shapeOf(input).slice(first, count));
  types.push_back(typeLike(input, withReplaced(shapeOf(input), first, count, size)));
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  Value first = op.getInputs().front();
  Shape shape(shapeOf(first));
  for (Value input : op.getInputs().drop_front())
    shape[op.getDimension()] += shapeOf(input)[op.getDimension()];
  types.push_back(typeLike(first, shape));
  return success();
}

Cost SliceOp::cost() { return copyCost(getResult()); }

ShardRule ConstantOp::shardRule() { return elementwiseShardRule(*this); }
ShardRule IotaOp::shardRule() { return elementwiseShardRule(*this); }

ShardRule BroadcastOp::shardRule() {
  Rule rule;
  Factors all = rule.factors(shapeOf(getResult()));
  Dimensions input;
  for (auto [size, dimension] : llvm::zip_equal(shapeOf(getInput()), getDimensions()))
    input.push_back(size == shapeOf(getResult())[dimension] ? ShardRule::Dimension{all[dimension]}
                                                            : ShardRule::Dimension{});
  return rule.operand(input).result(all).rule;
}

ShardRule TransposeOp::shardRule() {
  Rule rule;
  Factors input = rule.factors(shapeOf(getInput())), result;
  for (int64_t dimension : getPermutation())
    result.push_back(input[dimension]);
  return rule.operand(input).result(result).rule;
}

// `parts` are several dimensions from `first` on; in the other shape one dimension stands for them.
static std::pair<Dimensions, Dimensions> splitDimensions(Rule &rule, ArrayRef<int64_t> parts,
                                                         int64_t first, int64_t count) {
  Dimensions apart = Rule::dimensions(rule.factors(parts)), together(apart);
  ShardRule::Dimension merged;
  for (int64_t i = first; i < first + count; ++i)
    merged.push_back(apart[i][0]);
  together.erase(together.begin() + first, together.begin() + first + count);
  together.insert(together.begin() + first, merged);
  return {apart, together};
}

ShardRule SplitDimOp::shardRule() {
  Rule rule;
  auto [apart, together] =
      splitDimensions(rule, shapeOf(getResult()), getDimension(), getSizes().size());
  return rule.operand(together).result(apart).rule;
}

ShardRule MergeDimsOp::shardRule() {
  Rule rule;
  auto [apart, together] = splitDimensions(rule, shapeOf(getInput()), getFirst(), getCount());
  return rule.operand(apart).result(together).rule;
}

// One operand and result whose dimensions of equal size move together; the others are whole.
static ShardRule equalDimensions(Value operand, Value result) {
  Rule rule;
  Factors input, output;
  for (auto [from, to] : llvm::zip_equal(shapeOf(operand), shapeOf(result))) {
    bool equal = from == to;
    input.push_back(rule.factor(from, equal ? Kind::parallel : Kind::whole));
    output.push_back(equal ? input.back() : rule.factor(to, Kind::whole));
  }
  return rule.operand(input).result(output).rule;
}
ShardRule SliceOp::shardRule() { return equalDimensions(getInput(), getResult()); }
ShardRule PadOp::shardRule() { return equalDimensions(getInput(), getResult()); }

ShardRule ConcatOp::shardRule() {
  Rule rule;
  Factors all = rule.factors(shapeOf(getResult()));
  rule.rule.factors[all[getDimension()]].kind = Kind::whole;
  for (Value input : getInputs()) {
    Factors own(all);
    own[getDimension()] = rule.factor(shapeOf(input)[getDimension()], Kind::whole);
    rule.operand(own);
  }
  return rule.result(all).rule;
}

} // namespace weir
