//===- Vectorize.cpp - Vector code from scalar loops ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Vectorize.h"
#include "codegen/cpu/Emission.h"
#include "codegen/cpu/Widen.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace weir {

void hoistInvariants(Operation *root) {
  root->walk([](scf::ForOp loop) {
    auto low = getConstantIntValue(loop.getLowerBound()),
         high = getConstantIntValue(loop.getUpperBound());
    bool runs = loop->hasAttr(nonemptyName) || (low && high && *low < *high);
    moveLoopInvariantCode(
        {&loop.getRegion()},
        [](Value value, Region *region) {
          return value.getParentRegion()->isProperAncestor(region);
        },
        [&](Operation *op, Region *) {
          return (runs && op->hasAttr(constantLoadName)) ||
                 (isMemoryEffectFree(op) && isSpeculatable(op));
        },
        [](Operation *op, Region *region) { op->moveBefore(region->getParentOp()); });
  });
}

namespace {

std::optional<vector::CombiningKind> combiningKind(Operation *op) {
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return vector::CombiningKind::ADD;
  if (isa<arith::MaximumFOp>(op))
    return vector::CombiningKind::MAXIMUMF;
  if (isa<arith::MinimumFOp>(op))
    return vector::CombiningKind::MINIMUMF;
  if (isa<arith::MaxSIOp>(op))
    return vector::CombiningKind::MAXSI;
  if (isa<arith::MinSIOp>(op))
    return vector::CombiningKind::MINSI;
  return std::nullopt;
}

Reduction reductionOf(vector::CombiningKind kind) {
  switch (kind) {
  case vector::CombiningKind::ADD:
    return Reduction::sum;
  case vector::CombiningKind::MAXIMUMF:
  case vector::CombiningKind::MAXSI:
    return Reduction::max;
  default:
    return Reduction::min;
  }
}

/// What combines an iter_arg of the loop with each iteration's value; null where nothing does.
Operation *combinerOf(scf::ForOp loop, unsigned i) {
  Value argument = loop.getRegionIterArg(i);
  Operation *op = loop.getBody()->getTerminator()->getOperand(i).getDefiningOp();
  if (!op || !combiningKind(op) || !argument.hasOneUse() || *argument.user_begin() != op)
    return nullptr;
  return op;
}

/// Some instructions of the loop's body, and what its elementary functions will take.
int64_t weightOf(Block &block) {
  int64_t weight = 0;
  block.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) &&
        !isa<math::FmaOp, math::SqrtOp, math::FloorOp, math::AbsFOp>(op))
      weight += elementaryWeight;
    else
      weight += isElementwise(op) ? 1 : 0;
  });
  return weight;
}

/// Iterations side by side, in registers.
constexpr int64_t mostRegisters = 4;

class LoopVectorizer {
public:
  LoopVectorizer(scf::ForOp loop, const Processor &processor)
      : loop(loop), builder(loop), loc(loop.getLoc()),
        registerLanes(lanesOf(processor, Element::f32)) {
    int64_t weight = weightOf(*loop.getBody());
    mainLanes = registerLanes * (weight > 160 ? 1 : weight > 80 ? 2 : mostRegisters);
  }

  /// False, with nothing changed, where the loop has no vector form.
  bool run();

private:
  int64_t startAccumulators(int64_t allLanes);
  bool step(Value position, int64_t lanes, Value mask, MutableArrayRef<Value> accumulators);
  bool stepOfAll(Value position, int64_t lanes, Value mask, MutableArrayRef<Value> accumulators);
  bool steps(Value low, Value high, int64_t lanes, bool masked);
  SmallVector<Value> neutrals(int64_t lanes);
  void narrow();
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  int64_t registerLanes, mainLanes;
  SmallVector<Operation *> combiners;
  /// A reduction of a loop with a vector form has accumulators of as many lanes together whatever
  /// else its loop computes, or its bits would depend on that: `copies` of `accumulatorLanes`,
  /// which take turns.
  SmallVector<Value> accumulators;
  int64_t accumulatorLanes = 0, copies = 1;
};

SmallVector<Value> LoopVectorizer::neutrals(int64_t lanes) {
  SmallVector<Value> result;
  for (Operation *op : combiners) {
    Type type = op->getResult(0).getType();
    Value neutral = neutralOf(builder, loc, reductionOf(*combiningKind(op)), type);
    result.push_back(
        vector::BroadcastOp::create(builder, loc, VectorType::get({lanes}, type), neutral));
  }
  return result;
}

bool LoopVectorizer::step(Value position, int64_t lanes, Value mask,
                          MutableArrayRef<Value> accumulators) {
  Widener widener(builder, lanes, registerLanes, mask);
  widener.map(loop.getInductionVar(), {position, 1});
  for (auto [argument, accumulator] : llvm::zip_equal(loop.getRegionIterArgs(), accumulators))
    widener.map(argument, {Value(), 0, accumulator});
  if (!widener.block(*loop.getBody()))
    return false;
  SmallVector<Value> next;
  for (Operation *combiner : combiners)
    next.push_back(widener.vectorOf(combiner->getResult(0)));
  // Lanes past the end must not count: they keep what they had.
  if (mask)
    for (auto [value, old] : llvm::zip_equal(next, accumulators))
      value = arith::SelectOp::create(builder, loc, mask, value, old);
  llvm::copy(next, accumulators.begin());
  return true;
}

/// Accumulators of `allLanes` together; returns how many of them a step has.
int64_t LoopVectorizer::startAccumulators(int64_t allLanes) {
  accumulatorLanes = std::min(mainLanes, allLanes);
  copies = allLanes / accumulatorLanes;
  for (int64_t copy = 0; copy < copies; ++copy)
    llvm::append_range(accumulators, neutrals(accumulatorLanes));
  return accumulatorLanes;
}

/// A step of every copy of the accumulators.
bool LoopVectorizer::stepOfAll(Value position, int64_t lanes, Value mask,
                               MutableArrayRef<Value> accumulators) {
  size_t each = combiners.size();
  bool ok = step(position, lanes, mask, accumulators.take_front(each));
  for (int64_t copy = 1; ok && copy < copies; ++copy)
    ok = step(arith::AddIOp::create(builder, loc, position, index(copy * lanes)), lanes, mask,
              accumulators.slice(size_t(copy) * each, each));
  return ok;
}

bool LoopVectorizer::steps(Value low, Value high, int64_t lanes, bool masked) {
  auto wide = scf::ForOp::create(builder, loc, low, high, index(copies * lanes), accumulators);
  if (accumulators.empty())
    wide.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(wide.getBody());
  Value mask;
  if (masked) {
    Value left = arith::SubIOp::create(builder, loc, high, wide.getInductionVar());
    mask = vector::CreateMaskOp::create(builder, loc, VectorType::get({lanes}, builder.getI1Type()),
                                        left);
  }
  SmallVector<Value> inside(wide.getRegionIterArgs());
  bool ok = stepOfAll(wide.getInductionVar(), lanes, mask, inside);
  if (ok)
    scf::YieldOp::create(builder, loc, inside);
  builder.setInsertionPointAfter(wide);
  accumulators.assign(wide.result_begin(), wide.result_end());
  return ok;
}

/// From accumulators of many registers to such of one.
void LoopVectorizer::narrow() {
  for (; copies > 1; copies /= 2) {
    size_t half = accumulators.size() / 2;
    for (size_t i = 0; i < half; ++i)
      accumulators[i] =
          combine(builder, loc, reductionOf(*combiningKind(combiners[i % combiners.size()])),
                  accumulators[i], accumulators[half + i]);
    accumulators.resize(half);
  }
  for (; accumulatorLanes > registerLanes; accumulatorLanes /= 2)
    for (auto [value, combiner] : llvm::zip_equal(accumulators, combiners)) {
      int64_t half = accumulatorLanes / 2;
      Value low = vector::ExtractStridedSliceOp::create(builder, loc, value, {0}, {half}, {1});
      Value high = vector::ExtractStridedSliceOp::create(builder, loc, value, {half}, {half}, {1});
      value = combine(builder, loc, reductionOf(*combiningKind(combiner)), low, high);
    }
}

bool LoopVectorizer::run() {
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    combiners.push_back(combinerOf(loop, i));
    if (!combiners.back())
      return false;
  }
  // All code goes into a region of its own, which is dropped where the loop turns out to have no
  // vector form.
  auto holder = scf::ExecuteRegionOp::create(builder, loc, loop.getResultTypes());
  Block *block = builder.createBlock(&holder.getRegion());
  builder.setInsertionPointToEnd(block);

  Value low = loop.getLowerBound(), high = loop.getUpperBound();
  auto constantLow = getConstantIntValue(low), constantHigh = getConstantIntValue(high);
  int64_t allLanes = combiners.empty() ? mainLanes : mostRegisters * registerLanes;
  bool ok = true;
  if (constantLow && constantHigh) {
    int64_t at = *constantLow, end = *constantHigh;
    while (end - at < allLanes && allLanes > registerLanes)
      allLanes /= 2;
    int64_t lanes = startAccumulators(allLanes);
    while (ok && at < end) {
      int64_t count = (end - at) / (copies * lanes);
      if (count == 0 && copies * lanes > registerLanes) {
        lanes = registerLanes;
        narrow();
        continue;
      }
      if (count == 0) {
        auto type = VectorType::get({lanes}, builder.getI1Type());
        Value mask =
            vector::ConstantMaskOp::create(builder, loc, type, ArrayRef<int64_t>{end - at});
        ok = step(index(at), lanes, mask, accumulators);
        at = end;
      } else if (count == 1) {
        ok = stepOfAll(index(at), lanes, Value(), accumulators);
        at += copies * lanes;
      } else {
        ok = steps(index(at), index(at + count * copies * lanes), lanes, false);
        at += count * copies * lanes;
      }
    }
  } else {
    int64_t lanes = startAccumulators(allLanes);
    Value size = arith::SubIOp::create(builder, loc, high, low);
    Value rest = arith::RemUIOp::create(builder, loc, size, index(allLanes));
    Value middle = arith::SubIOp::create(builder, loc, high, rest);
    ok = steps(low, middle, lanes, false);
    if (ok) {
      narrow();
      ok = steps(middle, high, registerLanes, true);
    }
  }
  if (!ok) {
    holder.erase();
    return false;
  }
  narrow();
  SmallVector<Value> results;
  for (auto [value, combiner, init] :
       llvm::zip_equal(accumulators, combiners, loop.getInitArgs())) {
    auto kind = *combiningKind(combiner);
    Value total = vector::ReductionOp::create(builder, loc, kind, value);
    results.push_back(combine(builder, loc, reductionOf(kind), init, total));
  }
  loop.replaceAllUsesWith(results);
  loop->getBlock()->getOperations().splice(Block::iterator(loop), block->getOperations());
  holder.erase();
  loop.erase();
  return true;
}

} // namespace

void vectorizeLoops(Operation *root, const Processor &processor) {
  SmallVector<scf::ForOp> loops;
  root->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!loop->hasAttr(lanesName))
      return WalkResult::advance();
    loops.push_back(loop);
    return WalkResult::skip();
  });
  for (scf::ForOp loop : loops)
    if (!LoopVectorizer(loop, processor).run())
      loop->removeAttr(lanesName);
}

} // namespace weir
