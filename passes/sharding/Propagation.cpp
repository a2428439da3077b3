//===- Propagation.cpp - Layouts follow from layouts ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/Propagation.h"
#include "passes/sharding/Pieces.h"

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

void Propagation::fix(Value value, const Layout &layout) {
  known[value] = {layout, SmallVector<unsigned>(mesh.axes.size(), round)};
  fixed.insert(value);
}

Layout Propagation::of(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? Layout::whole(shapeOf(value)) : found->second.layout;
}

/// Whether the value has gained a cut.
bool Propagation::add(Value value, const Layout &layout) {
  if (fixed.contains(value) || !layout.isCut())
    return false;
  auto [found, isNew] = known.try_emplace(value);
  Known &now = found->second;
  if (isNew)
    now = {Layout::whole(shapeOf(value)), SmallVector<unsigned>(mesh.axes.size(), round)};
  bool changed = false;
  for (auto [mine, theirs] : llvm::zip_equal(now.layout.dimensions, layout.dimensions))
    changed |= refine(mine, theirs, mesh, [&](unsigned axis) {
      if (now.layout.isCutOver(axis))
        return false;
      now.rounds[axis] = round;
      return true;
    });
  return changed;
}

namespace {

/// That an op's factors be cut over an axis as one of its operands or results is.
struct Claim {
  const Layout *layout;
  ArrayRef<ShardRule::Dimension> dimensions;
  unsigned axis, round;
  bool isResult;
  int64_t bytes;

  auto order() const { return std::tuple(round, isResult, -bytes); }
};

} // namespace

static bool mayBeCut(Factor::Kind kind) {
  return kind == Factor::Kind::parallel || kind == Factor::Kind::sum;
}

Layout Propagation::factors(Shardable op) const {
  ShardRule rule = op.shardRule();
  SmallVector<Claim> claims;
  auto claim = [&](Value value, ArrayRef<ShardRule::Dimension> dimensions, bool isResult) {
    auto found = known.find(value);
    if (found == known.end())
      return;
    const Known &known = found->second;
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
      if (known.layout.isCutOver(axis))
        claims.push_back({&known.layout, dimensions, axis, known.rounds[axis], isResult,
                          storageBytes(value.getType())});
  };
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    claim(operand, dimensions, false);
  for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), rule.results))
    claim(result, dimensions, true);
  llvm::stable_sort(claims, [](auto &a, auto &b) { return a.order() < b.order(); });

  SmallVector<int64_t> sizes;
  for (const Factor &factor : rule.factors)
    sizes.push_back(factor.size);
  Layout result = Layout::whole(sizes);
  for (const Claim &claim : claims)
    for (auto [pieces, dimension] : llvm::zip_equal(claim.layout->dimensions, claim.dimensions)) {
      SmallVector<int64_t> parts;
      for (unsigned factor : dimension)
        parts.push_back(sizes[factor]);
      auto apart = fallApart(pieces, parts, mesh);
      if (!apart)
        continue;
      for (auto [factor, part] : llvm::zip_equal(dimension, *apart))
        if (mayBeCut(rule.factors[factor].kind))
          refine(result.dimensions[factor], part, mesh,
                 [&](unsigned axis) { return axis == claim.axis && !result.isCutOver(axis); });
    }
  return result;
}

/// Two values that are one.
bool Propagation::tie(Value a, Value b) {
  bool changed = add(a, of(b));
  return add(b, of(a)) || changed;
}

/// A value, and `count` of it one after the other.
bool Propagation::tieSlices(Value slice, Value whole, int64_t count) {
  Layout all = of(slice), one = of(whole);
  Pieces &rows = all.dimensions[0];
  rows.insert(rows.begin(), Piece{count});
  rows = joined(rows);
  bool changed = add(whole, all);
  if (auto apart = fallApart(one.dimensions[0], {count, shapeOf(slice)[0]}, mesh)) {
    one.dimensions[0] = (*apart)[1];
    changed |= add(slice, one);
  }
  return changed;
}

bool Propagation::spread(MicrobatchesOp loop) {
  Block &body = loop.getBody().front();
  auto yielded = cast<YieldOp>(body.getTerminator()).getValues();
  bool changed = false;
  unsigned argument = 1;
  for (Value whole : loop.getSliced())
    changed |= tieSlices(body.getArgument(argument++), whole, loop.getCount());
  for (auto [i, start] : llvm::enumerate(loop.getCarried())) {
    Value carried = body.getArgument(argument++);
    changed |= tie(start, carried);
    changed |= tie(carried, loop.getResult(loop.numSums() + i));
  }
  for (auto [result, value] : llvm::zip_equal(loop.getResults(), yielded))
    changed |= tie(result, value);
  return changed;
}

bool Propagation::spread(Operation *op) {
  if (auto loop = dyn_cast<MicrobatchesOp>(op))
    return spread(loop);
  auto shardable = dyn_cast<Shardable>(op);
  if (!shardable)
    return false;
  ShardRule rule = shardable.shardRule();
  Layout cuts = factors(shardable);
  bool changed = false;
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    changed |= add(operand, layoutOf(dimensions, cuts));
  for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), rule.results))
    changed |= add(result, layoutOf(dimensions, cuts));
  return changed;
}

void Propagation::run(func::FuncOp entry) {
  SmallVector<Operation *> ops;
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : ops)
      changed |= spread(op);
    for (Operation *op : llvm::reverse(ops))
      changed |= spread(op);
  }
  ++round;
}

} // namespace weir::sharding
