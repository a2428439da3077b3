//===- SumTrees.cpp - Sums of many values as trees ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/SumTrees.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;

namespace weir {

int levelsBelow(int64_t count) {
  int levels = 0;
  for (; count > mostInSequence; count = llvm::divideCeil(count, mostInSequence))
    ++levels;
  return levels;
}

namespace {

/// A loop adds so many values at most to what the loop around it carries; a longer one has a sum of
/// its own, which is added to that. Neighbours of a vector access are no more than these.
constexpr int64_t mostCarriedIn = 16;

/// What a loop of unknown bounds is taken to run.
constexpr int64_t unknownTrips = mostInSequence * mostInSequence;

/// The largest value of an index that is not negative.
std::optional<int64_t> largestOf(Value value) {
  if (auto constant = getConstantIntValue(value))
    return constant;
  if (auto least = value.getDefiningOp<arith::MinSIOp>()) {
    auto a = largestOf(least.getLhs()), b = largestOf(least.getRhs());
    return a && b ? std::min(*a, *b) : a ? a : b;
  }
  if (auto difference = value.getDefiningOp<arith::SubIOp>())
    return largestOf(difference.getLhs());
  return std::nullopt;
}

/// The most by which `high` can be above `low`.
std::optional<int64_t> mostBetween(Value low, Value high) {
  if (auto least = high.getDefiningOp<arith::MinSIOp>()) {
    auto a = mostBetween(low, least.getLhs()), b = mostBetween(low, least.getRhs());
    return a && b ? std::min(*a, *b) : a ? a : b;
  }
  if (auto sum = high.getDefiningOp<arith::AddIOp>(); sum && sum.getLhs() == low)
    return largestOf(sum.getRhs());
  std::optional<int64_t> most = largestOf(high);
  if (most)
    *most -= getConstantIntValue(low).value_or(0);
  return most;
}

int64_t mostTrips(scf::ForOp loop) {
  std::optional<int64_t> most = mostBetween(loop.getLowerBound(), loop.getUpperBound());
  int64_t step = getConstantIntValue(loop.getStep()).value_or(1);
  return most ? llvm::divideCeil(std::max<int64_t>(*most, 0), step) : unknownTrips;
}

/// A sum of floats that a loop carries.
struct CarriedSum {
  int64_t added = 0;   ///< values of an iteration, at most
  bool byLane = false; ///< a vector, to each lane of which a loop over the lanes adds
  SmallVector<std::pair<scf::ForOp, unsigned>> inner; ///< loops in an iteration that carry it on
};

std::optional<CarriedSum> carriedSum(scf::ForOp loop, unsigned number);

/// Follows a sum from where an iteration begins, `from`, to where it ends.
bool follow(Block *body, Value from, Value to, CarriedSum &sum) {
  while (from != to) {
    if (!from.hasOneUse())
      return false;
    OpOperand &use = *from.use_begin();
    Operation *user = use.getOwner();
    if (user->getBlock() != body)
      return false;
    if (isa<arith::AddFOp>(user)) {
      ++sum.added;
      from = user->getResult(0);
      continue;
    }
    auto inner = dyn_cast<scf::ForOp>(user);
    if (!inner || use.getOperandNumber() < inner.getNumControlOperands())
      return false;
    unsigned number = use.getOperandNumber() - inner.getNumControlOperands();
    std::optional<CarriedSum> within = carriedSum(inner, number);
    if (!within)
      return false;
    sum.added += mostTrips(inner) * within->added;
    sum.byLane |= within->byLane;
    sum.inner.push_back({inner, number});
    from = inner.getResult(number);
  }
  return sum.added > 0;
}

std::optional<CarriedSum> carriedSum(scf::ForOp loop, unsigned number) {
  Value begin = loop.getRegionIterArg(number);
  Value end = loop.getBody()->getTerminator()->getOperand(number);
  if (!isa<FloatType>(getElementTypeOrSelf(begin)))
    return std::nullopt;
  CarriedSum sum;
  if (auto insert = end.getDefiningOp<vector::InsertOp>(); insert && insert.getDest() == begin) {
    vector::ExtractOp extract;
    for (Operation *user : begin.getUsers())
      if (auto found = dyn_cast<vector::ExtractOp>(user); found && !extract)
        extract = found;
      else if (user != insert.getOperation())
        return std::nullopt;
    if (!extract || extract.getMixedPosition() != insert.getMixedPosition())
      return std::nullopt;
    sum.byLane = true;
    begin = extract.getResult();
    end = insert.getValueToStore();
  }
  return follow(loop.getBody(), begin, end, sum) ? std::optional(sum) : std::nullopt;
}

class Splitter {
public:
  explicit Splitter(scf::ForOp loop) : builder(loop), loc(loop.getLoc()) {}

  /// The loop, its inner ones included, and those that have nothing to do with its sums.
  static void run(scf::ForOp loop);

private:
  using Sums = SmallVector<std::optional<CarriedSum>>;

  void partFromInner(scf::ForOp loop, Sums &sums);
  scf::ForOp split(scf::ForOp loop, int64_t trips, const Sums &sums);
  Value add(Value a, Value b, bool byLane);
  Value zeroOf(Type type) {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  OpBuilder builder;
  Location loc;
};

/// GPUs have no sums of vectors.
Value Splitter::add(Value a, Value b, bool byLane) {
  if (!byLane)
    return arith::AddFOp::create(builder, loc, a, b);
  int64_t lanes = cast<VectorType>(a.getType()).getNumElements();
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(lanes), index(1), a,
                         [&](OpBuilder &inner, Location, Value lane, ValueRange carried) {
                           OpFoldResult at(lane);
                           Value own = vector::ExtractOp::create(inner, loc, carried[0], at);
                           Value other = vector::ExtractOp::create(inner, loc, b, at);
                           Value sum = arith::AddFOp::create(inner, loc, own, other);
                           Value next = vector::InsertOp::create(inner, loc, sum, carried[0], at);
                           scf::YieldOp::create(inner, loc, next);
                         });
  loop->setAttr("weir.unroll", builder.getUnitAttr());
  return loop.getResult(0);
}

/// Gives the loops inside that add many values sums of their own.
void Splitter::partFromInner(scf::ForOp loop, Sums &sums) {
  for (auto [number, sum] : llvm::enumerate(sums)) {
    if (!sum || sum->added <= mostCarriedIn || sum->inner.empty())
      continue;
    for (auto [inner, at] : sum->inner) {
      builder.setInsertionPoint(inner);
      OpOperand &init = inner.getInitArgsMutable()[at];
      Value before = init.get();
      init.set(zeroOf(before.getType()));
      builder.setInsertionPointAfter(inner);
      Value after = inner.getResult(at), all = add(before, after, sum->byLane);
      // What adds reads the inner sum itself.
      after.replaceUsesWithIf(all, [&](OpOperand &use) {
        return use.getOwner() != all.getDefiningOp() &&
               !all.getDefiningOp()->isProperAncestor(use.getOwner());
      });
    }
    sum = carriedSum(loop, unsigned(number));
  }
}

/// A loop around this one, over chunks of `trips` iterations, from which this one is left.
scf::ForOp Splitter::split(scf::ForOp loop, int64_t trips, const Sums &sums) {
  builder.setInsertionPoint(loop);
  Value low = loop.getLowerBound(), high = loop.getUpperBound();
  auto times = [&](Value a, Value b) -> Value {
    return builder.createOrFold<arith::MulIOp>(loc, a, b);
  };
  Value size = times(loop.getStep(), index(trips));
  // Counted, so that no index goes past the end: it may be near the largest that there is. An empty
  // loop has a chunk of nothing.
  Value last = builder.createOrFold<arith::SubIOp>(
      loc, builder.createOrFold<arith::SubIOp>(loc, high, low), index(1));
  Value chunks = builder.createOrFold<arith::AddIOp>(
      loc, builder.createOrFold<arith::DivSIOp>(loc, last, size), index(1));
  auto outer =
      scf::ForOp::create(builder, loc, index(0), chunks, index(1), ValueRange(loop.getInitArgs()));
  loop.replaceAllUsesWith(outer.getResults());
  builder.setInsertionPointToEnd(outer.getBody());
  Value first = arith::AddIOp::create(builder, loc, low, times(outer.getInductionVar(), size));
  Value left = arith::SubIOp::create(builder, loc, high, first);
  Value end =
      arith::AddIOp::create(builder, loc, first, arith::MinSIOp::create(builder, loc, left, size));
  SmallVector<Value> inits(outer.getRegionIterArgs());
  for (auto [init, sum] : llvm::zip_equal(inits, sums))
    if (sum)
      init = zeroOf(init.getType());
  loop->moveBefore(outer.getBody(), outer.getBody()->end());
  loop.setLowerBound(first);
  loop.setUpperBound(end);
  loop.getInitArgsMutable().assign(inits);
  builder.setInsertionPointToEnd(outer.getBody());
  SmallVector<Value> next;
  for (auto [carried, own, sum] :
       llvm::zip_equal(outer.getRegionIterArgs(), loop.getResults(), sums))
    next.push_back(sum ? add(carried, own, sum->byLane) : own);
  scf::YieldOp::create(builder, loc, next);
  return outer;
}

void Splitter::run(scf::ForOp loop) {
  Sums sums;
  int64_t trips = mostTrips(loop);
  auto added = [&] {
    int64_t most = 0;
    for (const std::optional<CarriedSum> &sum : sums)
      most = std::max(most, sum ? sum->added : 0);
    return most;
  };
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
    sums.push_back(carriedSum(loop, i));
  if (trips * added() > mostInSequence) {
    Splitter splitter(loop);
    splitter.partFromInner(loop, sums);
    int64_t ofChunk = std::max<int64_t>(1, mostInSequence / added());
    scf::ForOp outer = loop;
    while (trips > ofChunk) {
      outer = splitter.split(outer, ofChunk, sums);
      trips = llvm::divideCeil(trips, ofChunk);
      ofChunk = mostInSequence;
    }
  }
  SmallVector<scf::ForOp> inner;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForOp found) {
    inner.push_back(found);
    return WalkResult::skip();
  });
  for (scf::ForOp found : inner)
    run(found);
}

} // namespace

void sumInTrees(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    loops.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ForOp loop : loops)
    Splitter::run(loop);
}

} // namespace weir
