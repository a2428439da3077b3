//===- OpSharding.cpp - Shardings of an op's operands and results ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/OpSharding.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir::sharding {

Layout layoutOf(ArrayRef<ShardRule::Dimension> dimensions, const Layout &factors) {
  Layout layout;
  for (const ShardRule::Dimension &dimension : dimensions) {
    Pieces all;
    for (unsigned factor : dimension)
      llvm::append_range(all, factors.dimensions[factor]);
    layout.dimensions.push_back(joined(all));
  }
  return layout;
}

bool isUniform(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return shapeOf(broadcast.getInput()).empty();
  return value.getDefiningOp<ConstantOp>() != nullptr;
}

Layout wholeFactors(const ShardRule &rule) {
  SmallVector<int64_t> sizes;
  for (const Factor &factor : rule.factors)
    sizes.push_back(factor.size);
  return Layout::whole(sizes);
}

namespace {

class Waiting {
public:
  Waiting(Shardable op, const Layout &cuts, function_ref<const Layout &(Value)> layoutOf)
      : op(op), cuts(cuts), layoutOf(layoutOf) {}

  /// Whether operands may stay sums over the axis, and the result is one then.
  bool over(unsigned axis) const {
    int64_t sums = 0;
    bool isUsedElsewhere = false; // and would be added up for each use
    for (Value operand : op->getOperands())
      if (isSum(operand, axis)) {
        ++sums;
        isUsedElsewhere |= !operand.hasOneUse();
      }
    if (!sums || isUsedElsewhere || cuts.isCutOver(axis) || op->getNumResults() != 1)
      return false;
    return isLinear(sums, axis) && !grows(axis);
  }

  bool isSum(Value operand, unsigned axis) const {
    return llvm::is_contained(layoutOf(operand).partial, axis);
  }

private:
  bool isLinear(int64_t sums, unsigned axis) const {
    switch (op.linearity()) {
    case Linearity::first:
      return sums == 1 && isSum(op->getOperand(0), axis);
    case Linearity::any:
      return sums == 1;
    case Linearity::together:
      return sums == op->getNumOperands();
    case Linearity::none:
      return false;
    }
    llvm_unreachable("a kind without rule");
  }

  /// Whether more is to be added up behind the op than before it.
  bool grows(unsigned axis) const {
    int64_t before = 0;
    for (Value operand : op->getOperands())
      if (isSum(operand, axis))
        before += storageBytes(operand.getType());
    return storageBytes(op->getResult(0).getType()) > before;
  }

  mutable Shardable op;
  const Layout &cuts;
  function_ref<const Layout &(Value)> layoutOf;
};

} // namespace

OpSharding opShardingOf(Shardable op, const ShardRule &rule, const Layout &cuts, const Mesh &mesh,
                        function_ref<const Layout &(Value)> layoutOfValue) {
  OpSharding opSharding;
  Axes sums;
  Waiting waiting(op, cuts, layoutOfValue);
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    if (waiting.over(axis) && (!op->hasAttr(partsAttrName) || isOfBatch(mesh.axes[axis].name)))
      sums.push_back(axis);
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    opSharding.operands.push_back(layoutOf(dimensions, cuts));
    for (unsigned axis : sums)
      if (waiting.isSum(operand, axis))
        opSharding.operands.back().partial.push_back(axis);
  }
  for (auto [factor, pieces] : llvm::zip_equal(rule.factors, cuts.dimensions))
    for (const Piece &piece : pieces) {
      if (factor.kind == Factor::Kind::sum)
        sums.insert(sums.end(), piece.axes.begin(), piece.axes.end());
      else if (factor.kind != Factor::Kind::parallel && factor.kind != Factor::Kind::whole)
        // The innermost first: what members along it have is combined to what its owner has.
        for (unsigned axis : llvm::reverse(piece.axes))
          opSharding.combinations.push_back({axis, factor.kind});
    }
  llvm::sort(sums);
  for (ArrayRef<ShardRule::Dimension> dimensions : rule.results) {
    Layout layout = layoutOf(dimensions, cuts);
    layout.partial = sums;
    for (auto [i, factor] : llvm::enumerate(rule.factors))
      if (factor.kind == Factor::Kind::whole)
        for (const Piece &piece : cuts.dimensions[i])
          for (unsigned axis : piece.axes)
            if (!layout.isCutOver(axis))
              layout.partial.push_back(axis);
    llvm::sort(layout.partial);
    opSharding.results.push_back(std::move(layout));
  }
  return opSharding;
}

llvm::DenseSet<Operation *> forwardOps(func::FuncOp entry) {
  llvm::DenseSet<Operation *> forward;
  SmallVector<Value> left;
  auto results = entry.front().getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(results)) {
    auto part = entry.getResultAttrOfType<StringAttr>(i, partAttrName);
    if (part && (part.getValue() == "sum" || part.getValue() == "count"))
      left.push_back(value);
  }
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // What a loop carries on is computed from what it started with; what it takes slices of too.
      auto loop = dyn_cast<MicrobatchesOp>(argument.getOwner()->getParentOp());
      if (loop && argument.getArgNumber() > 0)
        left.push_back(loop->getOperand(argument.getArgNumber() - 1));
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      forward.insert(op);
      if (Value yielded = loop.getBody().front().getTerminator()->getOperand(number);
          !yielded.getDefiningOp() || !forward.contains(yielded.getDefiningOp()))
        left.push_back(yielded);
      continue;
    }
    if (forward.insert(op).second)
      llvm::append_range(left, op->getOperands());
  }
  return forward;
}

} // namespace weir::sharding
