//===- Vectorize.cpp - Vector code from scalar loops ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Vectorize.h"
#include "codegen/cpu/Emission.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace weir {

static std::optional<int64_t> constantOf(Value value) {
  APInt integer;
  if (matchPattern(value, m_ConstantInt(&integer)))
    return integer.getSExtValue();
  return std::nullopt;
}

void hoistInvariants(Operation *root) {
  root->walk([](scf::ForOp loop) {
    auto low = constantOf(loop.getLowerBound()), high = constantOf(loop.getUpperBound());
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

bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

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

/// One copy of a loop's body with `lanes` iterations side by side.
class Widener {
public:
  Widener(OpBuilder &builder, int64_t lanes, Value mask)
      : builder(builder), lanes(lanes), mask(mask) {}

  /// A value of the scalar loop and what stands for it: a scalar of all lanes (stride 0), the
  /// scalar of lane 0 where lane i has `stride` times i more, or a vector.
  struct Wide {
    Value scalar;
    int64_t stride = 0;
    Value vector = Value();
  };

  void map(Value value, Wide wide) { wides[value] = wide; }

  bool block(Block &body) {
    for (Operation &op : body.without_terminator())
      if (!operation(&op))
        return false;
    return true;
  }

  Value vectorOf(Value value) {
    Wide wide = lookup(value);
    if (wide.vector)
      return wide.vector;
    Location loc = value.getLoc();
    auto type = VectorType::get({lanes}, value.getType());
    Value result = vector::BroadcastOp::create(builder, loc, type, wide.scalar);
    if (wide.stride != 0) {
      Value offsets =
          vector::StepOp::create(builder, loc, VectorType::get({lanes}, builder.getIndexType()));
      if (!value.getType().isIndex())
        offsets = arith::IndexCastOp::create(builder, loc, type, offsets);
      if (wide.stride != 1) {
        auto factor =
            DenseElementsAttr::get(type, builder.getIntegerAttr(value.getType(), wide.stride));
        offsets = arith::MulIOp::create(builder, loc, offsets,
                                        arith::ConstantOp::create(builder, loc, factor));
      }
      result = arith::AddIOp::create(builder, loc, result, offsets);
    }
    return result;
  }

private:
  Wide lookup(Value value) {
    auto it = wides.find(value);
    return it != wides.end() ? it->second : Wide{value};
  }

  bool operation(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return nested(loop);
    if (auto choice = dyn_cast<scf::IfOp>(op))
      return conditional(choice);
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      return memory(op, load.getAddr());
    if (auto store = dyn_cast<LLVM::StoreOp>(op))
      return memory(op, store.getAddr());
    if (auto address = dyn_cast<LLVM::GEPOp>(op))
      return address.getDynamicIndices().size() == 1 && lookup(address.getBase()).scalar &&
             lookup(address.getBase()).stride == 0 && gep(address);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      map(constant, {builder.clone(*op)->getResult(0)});
      return true;
    }
    return isElementwise(op) && elementwise(op);
  }

  bool elementwise(Operation *op) {
    SmallVector<Wide> operands;
    bool uniform = true, linear = true;
    for (Value operand : op->getOperands()) {
      operands.push_back(lookup(operand));
      uniform &= operands.back().scalar && operands.back().stride == 0;
      linear &= bool(operands.back().scalar);
    }
    if (uniform || (linear && isLinear(op, operands))) {
      IRMapping mapping;
      for (auto [value, wide] : llvm::zip_equal(op->getOperands(), operands))
        mapping.map(value, wide.scalar);
      Operation *copy = builder.clone(*op, mapping);
      for (auto [value, result] : llvm::zip_equal(op->getResults(), copy->getResults()))
        map(value, {result, uniform ? 0 : strideOf(op, operands)});
      return true;
    }
    SmallVector<Value> vectors;
    for (Value operand : op->getOperands())
      vectors.push_back(vectorOf(operand));
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(VectorType::get({lanes}, type));
    OperationState state(op->getLoc(), op->getName(), vectors, types, op->getAttrs());
    Operation *copy = builder.create(state);
    for (auto [value, result] : llvm::zip_equal(op->getResults(), copy->getResults()))
      map(value, {Value(), 0, result});
    return true;
  }

  static std::optional<int64_t> factorOf(Operation *op) {
    if (auto factor = constantOf(op->getOperand(1)))
      return factor;
    return constantOf(op->getOperand(0));
  }

  static bool isLinear(Operation *op, ArrayRef<Wide> operands) {
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      return true;
    if (isa<arith::MulIOp>(op))
      return factorOf(op).has_value();
    if (auto cast = dyn_cast<arith::IndexCastOp>(op))
      return cast.getType().isIndex() ? cast.getIn().getType().isInteger(64)
                                      : cast.getType().isInteger(64);
    return false;
  }

  static int64_t strideOf(Operation *op, ArrayRef<Wide> operands) {
    if (isa<arith::AddIOp>(op))
      return operands[0].stride + operands[1].stride;
    if (isa<arith::SubIOp>(op))
      return operands[0].stride - operands[1].stride;
    if (isa<arith::MulIOp>(op))
      return (operands[0].stride + operands[1].stride) * *factorOf(op);
    return operands[0].stride;
  }

  /// The address of lane 0 with its stride in elements, or a vector of addresses.
  bool gep(LLVM::GEPOp op) {
    Value base = lookup(op.getBase()).scalar, offset = op.getDynamicIndices()[0];
    Wide wide = lookup(offset);
    auto address = [&](Type type, Value index) {
      return LLVM::GEPOp::create(builder, op.getLoc(), type, op.getElemType(), base,
                                 ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
    };
    if (wide.scalar && (wide.stride == 0 || wide.stride == 1)) {
      map(op, {address(op.getType(), wide.scalar), wide.stride});
      return true;
    }
    map(op, {Value(), 0, address(VectorType::get({lanes}, op.getType()), vectorOf(offset))});
    return true;
  }

  Value maskOrAll(Location loc) {
    if (mask)
      return mask;
    auto type = VectorType::get({lanes}, builder.getI1Type());
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true));
  }

  /// One element for all lanes, in a branch that none of them may take: its address may be nowhere
  /// then.
  Value loadWhereTaken(Location loc, Type element, Value address) {
    Value any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, mask);
    auto choice = scf::IfOp::create(builder, loc, TypeRange(element), any, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    scf::YieldOp::create(builder, loc, zero);
    builder.setInsertionPointToStart(choice.thenBlock());
    Value loaded = LLVM::LoadOp::create(builder, loc, element, address, storedBytes(element));
    scf::YieldOp::create(builder, loc, loaded);
    return choice.getResult(0);
  }

  static bool isFirstLane(Value mask) {
    auto known = mask ? mask.getDefiningOp<vector::ConstantMaskOp>() : nullptr;
    return known && known.getMaskDimSizes() == ArrayRef<int64_t>{1};
  }

  bool memory(Operation *op, Value address) {
    Location loc = op->getLoc();
    Wide at = lookup(address);
    auto store = dyn_cast<LLVM::StoreOp>(op);
    Type element = store ? store.getValue().getType() : op->getResult(0).getType();
    auto type = VectorType::get({lanes}, element);
    unsigned alignment = storedBytes(element);
    if (at.scalar && at.stride == 0) {
      if (store)
        return false;
      map(op->getResult(0),
          {inBranch ? loadWhereTaken(loc, element, at.scalar)
                    : LLVM::LoadOp::create(builder, loc, element, at.scalar, alignment)});
      return true;
    }
    if (store) {
      Value vector = vectorOf(store.getValue());
      if (!at.scalar)
        LLVM::masked_scatter::create(builder, loc, vector, at.vector, maskOrAll(loc), alignment);
      else if (isFirstLane(mask))
        // As a masked one LLVM 22.1 stores four bytes of an element that was truncated to fewer.
        LLVM::StoreOp::create(builder, loc, vector::ExtractOp::create(builder, loc, vector, 0),
                              at.scalar, alignment);
      else if (mask)
        LLVM::MaskedStoreOp::create(builder, loc, vector, at.scalar, mask, alignment);
      else
        LLVM::StoreOp::create(builder, loc, vector, at.scalar, alignment);
      return true;
    }
    Value result;
    if (at.scalar && !mask) {
      result = LLVM::LoadOp::create(builder, loc, type, at.scalar, alignment);
    } else {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
      if (at.scalar)
        result = LLVM::MaskedLoadOp::create(builder, loc, type, at.scalar, mask, zero, alignment);
      else
        result = LLVM::masked_gather::create(builder, loc, type, at.vector, maskOrAll(loc), zero,
                                             alignment);
    }
    map(op->getResult(0), {Value(), 0, result});
    return true;
  }

  bool nested(scf::ForOp loop) {
    SmallVector<Value> bounds, inits;
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
      Wide wide = lookup(bound);
      if (!wide.scalar || wide.stride != 0)
        return false;
      bounds.push_back(wide.scalar);
    }
    for (Value init : loop.getInitArgs())
      inits.push_back(vectorOf(init));
    auto copy = scf::ForOp::create(builder, loop.getLoc(), bounds[0], bounds[1], bounds[2], inits);
    if (inits.empty())
      copy.getBody()->getTerminator()->erase();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(copy.getBody());
    map(loop.getInductionVar(), {copy.getInductionVar()});
    for (auto [from, to] : llvm::zip_equal(loop.getRegionIterArgs(), copy.getRegionIterArgs()))
      map(from, {Value(), 0, to});
    if (!block(*loop.getBody()))
      return false;
    SmallVector<Value> yielded;
    for (Value value : loop.getBody()->getTerminator()->getOperands())
      yielded.push_back(vectorOf(value));
    scf::YieldOp::create(builder, loop.getLoc(), yielded);
    for (auto [from, to] : llvm::zip_equal(loop.getResults(), copy.getResults()))
      map(from, {Value(), 0, to});
    return true;
  }

  /// Both branches, each with the lanes that take it, unless all lanes take the same.
  bool conditional(scf::IfOp op) {
    Location loc = op.getLoc();
    Wide condition = lookup(op.getCondition());
    auto branch = [&](Region &region, SmallVectorImpl<Value> &results) {
      if (region.empty())
        return true;
      if (!block(region.front()))
        return false;
      for (Value value : region.front().getTerminator()->getOperands())
        results.push_back(vectorOf(value));
      return true;
    };
    SmallVector<Value> onTrue, onFalse;
    if (condition.scalar) {
      SmallVector<Type> types;
      for (Type type : op.getResultTypes())
        types.push_back(VectorType::get({lanes}, type));
      auto copy =
          scf::IfOp::create(builder, loc, types, condition.scalar, !op.getElseRegion().empty());
      OpBuilder::InsertionGuard guard(builder);
      auto fill = [&](Region &from, Region &to) {
        SmallVector<Value> results;
        if (from.empty())
          return true;
        if (types.empty())
          to.front().getTerminator()->erase();
        builder.setInsertionPointToEnd(&to.front());
        if (!branch(from, results))
          return false;
        scf::YieldOp::create(builder, loc, results);
        return true;
      };
      if (!fill(op.getThenRegion(), copy.getThenRegion()) ||
          !fill(op.getElseRegion(), copy.getElseRegion()))
        return false;
      for (auto [from, to] : llvm::zip_equal(op.getResults(), copy.getResults()))
        map(from, {Value(), 0, to});
      return true;
    }
    Value outer = mask, taken = condition.vector;
    auto type = VectorType::get({lanes}, builder.getI1Type());
    Value all = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true));
    Value others = arith::XOrIOp::create(builder, loc, taken, all);
    auto within = [&](Value lanes) {
      return outer ? arith::AndIOp::create(builder, loc, outer, lanes).getResult() : lanes;
    };
    bool wasInBranch = std::exchange(inBranch, true);
    mask = within(taken);
    bool ok = branch(op.getThenRegion(), onTrue);
    mask = within(others);
    ok = ok && branch(op.getElseRegion(), onFalse);
    mask = outer;
    inBranch = wasInBranch;
    if (!ok)
      return false;
    for (auto [result, a, b] : llvm::zip_equal(op.getResults(), onTrue, onFalse))
      map(result, {Value(), 0, arith::SelectOp::create(builder, loc, taken, a, b)});
    return true;
  }

  OpBuilder &builder;
  int64_t lanes;
  Value mask;
  bool inBranch = false; ///< whose mask may have no lane; a loop's has its first
  DenseMap<Value, Wide> wides;
};

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
  Widener widener(builder, lanes, mask);
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
  auto constantLow = constantOf(low), constantHigh = constantOf(high);
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
