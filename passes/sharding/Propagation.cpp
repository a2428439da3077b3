//===- Propagation.cpp - Propagates shardings -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/Propagation.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Yield.h"
#include "passes/sharding/OpSharding.h"
#include "passes/sharding/SubDimensions.h"
#include <numeric>

using namespace mlir;

namespace weir::sharding {

Propagation::Known &Propagation::about(Value value) {
  auto [found, isNew] = known.try_emplace(value);
  if (isNew)
    found->second = {Layout::whole(shapeOf(value)),
                     SmallVector<unsigned>(mesh().axes.size(), round())};
  return found->second;
}

void Propagation::fix(Value value, const Layout &layout) {
  Known &now = about(value);
  for (unsigned axis = 0; axis < mesh().axes.size(); ++axis)
    if (layout.isCutOver(axis) && !now.layout.isCutOver(axis))
      now.rounds[axis] = round();
  now.layout = layout;
  now.fixed = Axes(mesh().axes.size());
  std::iota(now.fixed.begin(), now.fixed.end(), 0);
  touch(value);
}

void Propagation::fix(Value value, unsigned axis) { about(value).fixed.push_back(axis); }

void Propagation::pin(Shardable op, unsigned axis, Layout cuts, std::string why) {
  pins[op].push_back({axis, std::move(cuts), std::move(why)});
  settled.erase(op);
}

ArrayRef<Propagation::Pin> Propagation::pinsOf(Operation *op) const {
  auto found = pins.find(op);
  return found == pins.end() ? ArrayRef<Pin>() : ArrayRef<Pin>(found->second);
}

const Propagation::Pin *Propagation::pinOf(Operation *op, unsigned axis) const {
  ArrayRef<Pin> all = pinsOf(op);
  auto found = llvm::find_if(all, [&](const Pin &pin) { return pin.axis == axis; });
  return found == all.end() ? nullptr : found;
}

Layout Propagation::of(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? Layout::whole(shapeOf(value)) : found->second.layout;
}

const ShardRule &Propagation::ruleOf(Shardable op) const {
  auto [found, isNew] = rules->try_emplace(op);
  if (isNew)
    found->second = op.shardRule();
  return found->second;
}

const Cost &Propagation::costOf(Operation *op) const {
  auto [found, isNew] = costs->try_emplace(op);
  if (isNew)
    found->second = cast<Costed>(op).cost();
  return found->second;
}

/// Whether the value has gained a cut.
bool Propagation::add(Value value, const Layout &layout) {
  if (!layout.isCut() || isUniform(value))
    return false;
  Known &now = about(value);
  bool changed = false;
  for (auto [mine, theirs] : llvm::zip_equal(now.layout.dimensions, layout.dimensions))
    changed |= refine(mine, theirs, mesh(), [&](unsigned axis) {
      if (llvm::is_contained(now.fixed, axis) || now.layout.isCutOver(axis))
        return false;
      now.rounds[axis] = round();
      return true;
    });
  if (changed)
    touch(value);
  return changed;
}

void Propagation::touch(Value value) {
  auto add = [&](Operation *op) {
    unsettled.insert(isa<YieldOp>(op) ? op->getParentOp() : op);
    settled.erase(op);
  };
  Operation *maker = value.getDefiningOp();
  add(maker ? maker : cast<BlockArgument>(value).getOwner()->getParentOp());
  llvm::for_each(value.getUsers(), add);
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

/// Whether a factor may be cut so.
static bool mayBe(const Factor &factor, const Pieces &pieces) {
  return factor.kind != Factor::Kind::whole && !(factor.counted && pieces.size() > 1);
}

const Layout &Propagation::factors(Shardable op) const {
  std::shared_ptr<const Layout> &known = settled[op];
  if (!known)
    known = std::make_shared<const Layout>(factorsNow(op));
  return *known;
}

Layout Propagation::factorsNow(Shardable op) const {
  const ShardRule &rule = ruleOf(op);
  SmallVector<Claim> claims;
  auto claim = [&](Value value, ArrayRef<ShardRule::Dimension> dimensions, bool isResult) {
    auto found = known.find(value);
    if (found == known.end())
      return;
    const Known &known = found->second;
    // Axes that cut a piece one after the other are claimed in that order.
    for (const Pieces &pieces : known.layout.dimensions)
      for (const Piece &piece : pieces)
        for (unsigned axis : piece.axes)
          if (!pinOf(op, axis))
            claims.push_back({&known.layout, dimensions, axis, known.rounds[axis], isResult,
                              storageBytes(value.getType())});
  };
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    claim(operand, dimensions, false);
  for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), rule.results))
    claim(result, dimensions, true);
  llvm::stable_sort(claims, [](auto &a, auto &b) { return a.order() < b.order(); });

  Layout result = wholeFactors(rule);
  for (const Claim &claim : claims)
    for (auto [pieces, dimension] : llvm::zip_equal(claim.layout->dimensions, claim.dimensions)) {
      SmallVector<int64_t> parts;
      for (unsigned factor : dimension)
        parts.push_back(rule.factors[factor].size);
      auto apart = splitPieces(pieces, parts, mesh());
      if (!apart)
        continue;
      for (auto [factor, part] : llvm::zip_equal(dimension, *apart))
        if (mayBe(rule.factors[factor], part))
          refine(result.dimensions[factor], part, mesh(),
                 [&](unsigned axis) { return axis == claim.axis && !result.isCutOver(axis); });
    }
  for (const Pin &pin : pinsOf(op))
    for (auto [pieces, others] : llvm::zip_equal(result.dimensions, pin.cuts.dimensions))
      cutFurther(pieces, others, pin.axis, mesh());
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
  if (auto apart = splitPieces(one.dimensions[0], {count, shapeOf(slice)[0]}, mesh())) {
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
    changed |= untied.contains(result) ? add(result, of(value)) : tie(result, value);
  return changed;
}

bool Propagation::spread(Operation *op) {
  if (auto loop = dyn_cast<MicrobatchesOp>(op))
    return spread(loop);
  auto shardable = dyn_cast<Shardable>(op);
  if (!shardable)
    return false;
  const ShardRule &rule = ruleOf(shardable);
  Layout cuts = factors(shardable);
  for (const Pin &pin : pinsOf(op))
    for (Pieces &pieces : cuts.dimensions)
      for (Piece &piece : pieces)
        llvm::erase(piece.axes, pin.axis);
  if (!cuts.isCut() || (passes && !passes(shardable, cuts)))
    return false;
  bool changed = false;
  for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    changed |= add(operand, layoutOf(dimensions, cuts));
  for (auto [result, dimensions] : llvm::zip_equal(op->getResults(), rule.results))
    changed |= add(result, layoutOf(dimensions, cuts));
  return changed;
}

void Propagation::run(func::FuncOp entry, std::string why) {
  SmallVector<Operation *> ops;
  llvm::StringMap<ReadOp> reads;
  SmallVector<std::pair<ReadOp, ReadOp>> same;
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    if (auto read = dyn_cast<ReadOp>(op))
      if (auto [first, isNew] = reads.try_emplace(read.getVariable(), read); !isNew)
        same.push_back({first->second, read});
  });
  if (reasons.empty()) // None has spread yet, and some have no values that could change.
    unsettled.insert(ops.begin(), ops.end());
  auto settle = [&](Operation *op) { return unsettled.erase(op) && spread(op); };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [one, other] : same)
      changed |= tie(one, other);
    for (Operation *op : ops)
      changed |= settle(op);
    for (Operation *op : llvm::reverse(ops))
      changed |= settle(op);
  }
  reasons.push_back(std::move(why));
}

std::string Propagation::whyOf(Value value, unsigned axis) const {
  auto found = known.find(value);
  if (found == known.end() || !found->second.layout.isCutOver(axis))
    return "";
  return reasons[found->second.rounds[axis]];
}

static void addReason(std::string &text, const Mesh::Axis &axis, const std::string &why) {
  if (!why.empty())
    text += (text.empty() ? "" : "; ") + axis.name + ": " + why;
}

std::string Propagation::whyOf(Value value) const {
  std::string text;
  for (auto [axis, of] : llvm::enumerate(mesh().axes))
    addReason(text, of, whyOf(value, unsigned(axis)));
  return text;
}

std::string Propagation::whyOf(Shardable op) const {
  std::string text;
  for (auto [axis, of] : llvm::enumerate(mesh().axes)) {
    const Pin *pin = pinOf(op, unsigned(axis));
    addReason(text, of, pin ? pin->why : whyOf(op->getResult(0), unsigned(axis)));
  }
  return text;
}

} // namespace weir::sharding
