//===- BatchRows.cpp - Are the rows of a batch independent? ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/BatchRows.h"
#include "ir/weir/Names.h"
#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/structure/Structure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weir {

BatchRows::BatchRows(func::FuncOp entry, int64_t rows, ArrayRef<std::optional<RowPlace>> arguments,
                     ValueRange ends)
    : function(entry), count(rows) {
  assert(rows > 0 && arguments.size() == entry.getNumArguments());
  for (auto [argument, place] : llvm::zip_equal(entry.getArguments(), arguments))
    if (place)
      places[argument] = *place;
  if (count > 1)
    follow(ends);
}

BatchRows BatchRows::ofInputs(func::FuncOp entry) {
  int64_t rows = entry.getNumArguments() ? shapeOf(entry.getArgument(0))[0] : 1;
  SmallVector<std::optional<RowPlace>> first(entry.getNumArguments(), RowPlace{0, 1});
  return BatchRows(entry, rows, first);
}

BatchRows::Kind BatchRows::kindOf(Value value) const {
  if (sums.contains(value))
    return Kind::sum;
  return places.contains(value) ? Kind::rows : Kind::shared;
}

std::optional<RowPlace> BatchRows::findRows(Value value) {
  if (kindOf(value) == Kind::rows)
    return placeOf(value);
  ArrayRef<int64_t> shape = shapeOf(value);
  if (kindOf(value) == Kind::sum || shape.empty() || shape[0] % count != 0)
    return std::nullopt;
  RowPlace first{0, shape[0] / count};
  if (count == 1 ? shape[0] == 1 : isUniform(value, first, Same::distribution))
    return first;
  return std::nullopt;
}

/// The ops that values are computed from, themselves included.
static llvm::DenseSet<Operation *> opsBehind(SmallVector<Operation *> open) {
  llvm::DenseSet<Operation *> seen(open.begin(), open.end());
  while (!open.empty())
    for (Value operand : open.pop_back_val()->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && seen.insert(op).second)
        open.push_back(op);
  return seen;
}

void BatchRows::follow(ValueRange ends) {
  Block &block = function.getBody().front();
  SmallVector<Operation *> last;
  for (Value end : ends)
    if (Operation *op = end.getDefiningOp())
      last.push_back(op);
  if (ends.empty())
    for (Operation &op : block)
      if (op.hasTrait<OpTrait::IsTerminator>() || !isPure(&op))
        last.push_back(&op);
  live = opsBehind(last);
  for (Operation &op : block) {
    if (!live.contains(&op))
      continue;
    if (!why)
      if (Clause clause = visit(&op))
        why = TiedRows{&op, op.getLoc(), *clause};
    if (why)
      trace(&op);
  }
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

std::optional<BatchRows::InFactor>
BatchRows::find(const ShardRule &rule, const ShardRule::Dimension &factors, int64_t inner) const {
  int64_t behind = 1; // elements of the dimension that one of the factor is
  for (unsigned factor : llvm::reverse(factors)) {
    int64_t size = rule.factors[factor].size;
    if (inner % behind == 0 && (behind * size) % (inner * count) == 0)
      return InFactor{factor, inner / behind};
    behind *= size;
  }
  return std::nullopt;
}

std::optional<RowPlace>
BatchRows::locate(const ShardRule &rule, ArrayRef<ShardRule::Dimension> dimensions, InFactor rows) {
  for (auto [i, factors] : llvm::enumerate(dimensions)) {
    int64_t inner = rows.inner;
    for (unsigned factor : llvm::reverse(factors)) {
      if (factor == rows.factor)
        return RowPlace{int64_t(i), inner};
      inner *= rule.factors[factor].size;
    }
  }
  return std::nullopt;
}

bool BatchRows::isUniform(Value value, RowPlace place, Same same) {
  Operation *op = value.getDefiningOp();
  if (!op || kindOf(value) != Kind::shared)
    return false;
  if (isa<ConstantOp>(op))
    return true;
  if (auto iota = dyn_cast<IotaOp>(op))
    return int64_t(iota.getDimension()) != place.dimension;
  if (isa<RandomOp>(op))
    return same == Same::distribution;
  auto shardable = dyn_cast<Shardable>(op);
  if (!shardable)
    return false;
  std::tuple key(value.getAsOpaquePointer(), place.dimension, place.inner, same);
  auto [known, isNew] = uniform.try_emplace(key, false);
  if (!isNew)
    return known->second;
  ShardRule rule = shardable.shardRule();
  ArrayRef<ShardRule::Dimension> result = rule.results[cast<OpResult>(value).getResultNumber()];
  auto at = find(rule, result[place.dimension], place.inner);
  if (!at || rule.factors[at->factor].counted ||
      rule.factors[at->factor].kind == Factor::Kind::whole)
    return false;
  bool all = true;
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    if (auto there = locate(rule, dimensions, *at))
      all = all && isUniform(operand, *there, same);
  return uniform[key] = all;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// An op that takes all rows together, in the user's words.
static std::string takesAll(Operation *op) {
  return TypeSwitch<Operation *, std::string>(op)
      .Case<SliceOp>([](auto) { return "some of the rows are picked out"; })
      .Case<GatherOp, SegmentSumOp>([](auto) { return "rows are picked by an index"; })
      .Case<ConcatOp>([](auto) { return "rows are joined with others"; })
      .Default([](Operation *op) {
        return "`" + op->getName().stripDialect().str() + "` takes all rows together";
      });
}

/// Whether the op is linear in those of its operands that are sums, together.
static bool isLinear(Shardable op, function_ref<bool(Value)> isSum) {
  unsigned sums = llvm::count_if(op->getOperands(), isSum);
  switch (op.linearity()) {
  case Linearity::none:
    return false;
  case Linearity::first:
    return sums == 1 && isSum(op->getOperand(0));
  case Linearity::any:
    return sums == 1;
  case Linearity::together:
    // What is shared and meets a sum counts for all rows together (cutRows): a part of it each.
    return op->getNumOperands() == 1 ||
           isa<FloatType>(tensorType(op->getResult(0)).getElementType());
  }
  llvm_unreachable("a kind without rule");
}

BatchRows::Clause BatchRows::visit(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitReturn(op);
  bool rows = false, sum = false;
  for (Value operand : op->getOperands()) {
    rows = rows || kindOf(operand) == Kind::rows;
    sum = sum || kindOf(operand) == Kind::sum;
  }
  if (op->getNumRegions() == 0 && !rows && !sum)
    return std::nullopt;
  if (rows && sum)
    return "a sum over the rows is combined with single rows";
  auto shardable = dyn_cast<Shardable>(op);
  if (!shardable)
    return "the effect of `" + op->getName().stripDialect().str() + "` on the rows is not known";
  return sum ? visitSums(op) : visitRows(op, shardable.shardRule());
}

BatchRows::Clause BatchRows::visitRows(Operation *op, const ShardRule &rule) {
  std::optional<InFactor> at;
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    if (kindOf(operand) != Kind::rows)
      continue;
    RowPlace place = placeOf(operand);
    auto found = find(rule, dimensions[place.dimension], place.inner);
    if (!found)
      return isa<SplitDimOp>(op) ? "the rows are split into groups" : takesAll(op);
    const Factor &factor = rule.factors[found->factor];
    if (factor.counted || factor.kind == Factor::Kind::whole ||
        factor.kind == Factor::Kind::combined)
      return takesAll(op);
    if (at && *at != *found)
      return "rows are combined with other rows";
    at = found;
  }
  Factor::Kind kind = rule.factors[at->factor].kind;
  if (kind == Factor::Kind::max)
    return "a maximum over the rows is taken";
  if (kind == Factor::Kind::min)
    return "a minimum over the rows is taken";
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    if (auto place = locate(rule, dimensions, *at))
      if (kindOf(operand) != Kind::rows && !isUniform(operand, *place))
        return isUniform(operand, *place, Same::distribution)
                   ? "random numbers are drawn for each row"
                   : "rows are combined with values that depend on the position in the batch";
  for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), rule.results)) {
    auto place = locate(rule, dimensions, *at);
    if (place)
      places[result] = *place;
    else if (kind == Factor::Kind::sum)
      sums.insert(result);
    else
      return takesAll(op);
  }
  return std::nullopt;
}

BatchRows::Clause BatchRows::visitSums(Operation *op) {
  if (!isLinear(cast<Shardable>(op), [&](Value value) { return kindOf(value) == Kind::sum; }))
    return "a sum over the rows is used other than in sums and multiples";
  sums.insert(op->result_begin(), op->result_end());
  return std::nullopt;
}

bool BatchRows::isFigure(unsigned result) {
  auto part = function.getResultAttrOfType<StringAttr>(result, partAttrName);
  return part && (part.getValue() == "sum" || part.getValue() == "count");
}

bool BatchRows::beginsWithRows(Value value) {
  auto place = findRows(value);
  return place && place->dimension == 0 && place->inner * count == shapeOf(value)[0];
}

BatchRows::Clause BatchRows::visitReturn(Operation *op) {
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    Kind kind = kindOf(value);
    if (isFigure(i)) {
      if (kind == Kind::rows)
        return "a metric is not a sum over the rows";
      continue;
    }
    if (!beginsWithRows(value))
      return "a result does not begin with a dimension of rows";
    if (kind == Kind::shared && !isUniform(value, *findRows(value)))
      return "random numbers are drawn for each row";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Where the rows are, once they are tied
//===----------------------------------------------------------------------===//

void BatchRows::trace(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    for (auto [i, value] : llvm::enumerate(op->getOperands()))
      if (!isFigure(i) && !beginsWithRows(value))
        elsewhere = TiedRows{op, op->getLoc(), "a result does not begin with a dimension of rows"};
    return;
  }
  auto shardable = dyn_cast<Shardable>(op);
  if (!shardable)
    return;
  ShardRule rule = shardable.shardRule();
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    if (kindOf(operand) != Kind::rows)
      continue;
    RowPlace from = placeOf(operand);
    auto at = find(rule, dimensions[from.dimension], from.inner);
    if (!at)
      continue;
    // Where rows are combined with other rows the first dimension that has them counts.
    for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), rule.results))
      if (auto place = locate(rule, dimensions, *at))
        if (auto [known, isNew] = places.try_emplace(result, *place);
            !isNew && place->dimension < known->second.dimension)
          known->second = *place;
  }
}

} // namespace weir
