//===- Rules.cpp - Types, costs and factors of layout --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/structure/Structure.h"

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

/// Whether places `offset` on, `size` of them, are one of the equal parts that `whole` falls into.
static bool isPart(int64_t whole, int64_t size, int64_t offset, int64_t stride) {
  return size > 1 && stride == 1 && whole % size == 0 && offset % size == 0;
}

/// Of slice and pad. Where the smaller value is one of the parts that the larger one falls into,
/// the places of a part move together; where sizes are neither that nor equal, both are whole.
static std::pair<Dimensions, Dimensions> partDimensions(Rule &rule, ArrayRef<int64_t> larger,
                                                        ArrayRef<int64_t> smaller,
                                                        ArrayRef<int64_t> offsets,
                                                        ArrayRef<int64_t> strides) {
  Dimensions ofLarger, ofSmaller;
  for (auto [whole, size, offset, stride] : llvm::zip_equal(larger, smaller, offsets, strides)) {
    if (whole == size) {
      ofSmaller.push_back({rule.factor(size)});
      ofLarger.push_back(ofSmaller.back());
    } else if (isPart(whole, size, offset, stride)) {
      ofSmaller.push_back({rule.factor(size)});
      ofLarger.push_back({rule.factor(whole / size, Kind::whole), ofSmaller.back()[0]});
    } else {
      ofSmaller.push_back({rule.factor(size, Kind::whole)});
      ofLarger.push_back({rule.factor(whole, Kind::whole)});
    }
  }
  return {ofLarger, ofSmaller};
}

ShardRule SliceOp::shardRule() {
  Rule rule;
  auto [input, result] =
      partDimensions(rule, shapeOf(getInput()), shapeOf(getResult()), getOffsets(), getStrides());
  return rule.operand(input).result(result).rule;
}

ShardRule PadOp::shardRule() {
  Rule rule;
  auto [result, input] =
      partDimensions(rule, shapeOf(getResult()), shapeOf(getInput()), getOffsets(), getStrides());
  return rule.operand(input).result(result).rule;
}

ShardRule ConcatOp::shardRule() {
  Rule rule;
  Dimensions all = Rule::dimensions(rule.factors(shapeOf(getResult())));
  ShardRule::Dimension &along = all[getDimension()];
  rule.rule.factors[along[0]].kind = Kind::whole;
  int64_t size = shapeOf(getInputs().front())[getDimension()];
  bool areParts = size > 1 && llvm::all_of(getInputs(), [&](Value input) {
                    return shapeOf(input)[getDimension()] == size;
                  });
  if (areParts) {
    rule.rule.factors[along[0]].size = getInputs().size();
    along.push_back(rule.factor(size));
  }
  for (Value input : getInputs()) {
    Dimensions own(all);
    own[getDimension()] = {areParts ? along[1]
                                    : rule.factor(shapeOf(input)[getDimension()], Kind::whole)};
    rule.operand(own);
  }
  return rule.result(all).rule;
}

/// The same part, of what a rank has.
static SmallVector<int64_t> localOffsets(ArrayRef<int64_t> offsets, ArrayRef<int64_t> smaller,
                                         Type local) {
  SmallVector<int64_t> own(offsets);
  for (auto [offset, size, has] :
       llvm::zip_equal(own, smaller, cast<RankedTensorType>(local).getShape()))
    if (has != size)
      offset = offset / size * has;
  return own;
}

Operation *SliceOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types, Shares &) {
  auto made = cast<SliceOp>(cloneWith(builder, *this, operands, types));
  made.setOffsets(localOffsets(getOffsets(), shapeOf(getResult()), types[0]));
  return made;
}

Operation *PadOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types, Shares &) {
  auto made = cast<PadOp>(cloneWith(builder, *this, operands, types));
  made.setOffsets(localOffsets(getOffsets(), shapeOf(getInput()), operands[0].getType()));
  return made;
}

Operation *SplitDimOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types,
                                Shares &) {
  auto made = cast<SplitDimOp>(cloneWith(builder, *this, operands, types));
  made.setSizes(shapeOf(made.getResult()).slice(getDimension(), getSizes().size()));
  return made;
}

Operation *IotaOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types,
                            Shares &shares) {
  if (types[0] == getType())
    return cloneWith(builder, *this, operands, types);
  SmallVector<int64_t> strides(shapeOf(getResult()).size(), 0);
  strides[getDimension()] = 1;
  return shares.places(strides).getDefiningOp();
}

} // namespace weir
