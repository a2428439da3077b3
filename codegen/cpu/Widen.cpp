//===- Widen.cpp - Iterations of a loop side by side ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Widen.h"
#include "codegen/cpu/Emission.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace weir {

bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

bool Widener::block(Block &body) {
  for (Operation &op : body.without_terminator())
    if (!operation(&op))
      return false;
  return true;
}

Value Widener::vectorOf(Value value) {
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

Widener::Wide Widener::lookup(Value value) {
  auto it = wides.find(value);
  return it != wides.end() ? it->second : Wide{value};
}

bool Widener::operation(Operation *op) {
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

bool Widener::elementwise(Operation *op) {
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

std::optional<int64_t> Widener::factorOf(Operation *op) {
  if (auto factor = getConstantIntValue(op->getOperand(1)))
    return factor;
  return getConstantIntValue(op->getOperand(0));
}

bool Widener::isLinear(Operation *op, ArrayRef<Wide> operands) {
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return true;
  if (isa<arith::MulIOp>(op))
    return factorOf(op).has_value();
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return cast.getType().isIndex() ? cast.getIn().getType().isInteger(64)
                                    : cast.getType().isInteger(64);
  return false;
}

int64_t Widener::strideOf(Operation *op, ArrayRef<Wide> operands) {
  if (isa<arith::AddIOp>(op))
    return operands[0].stride + operands[1].stride;
  if (isa<arith::SubIOp>(op))
    return operands[0].stride - operands[1].stride;
  if (isa<arith::MulIOp>(op))
    return (operands[0].stride + operands[1].stride) * *factorOf(op);
  return operands[0].stride;
}

bool Widener::gep(LLVM::GEPOp op) {
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

Value Widener::maskOrAll(Location loc) {
  if (mask)
    return mask;
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true));
}

Value Widener::loadWhereTaken(Location loc, Type element, Value address) {
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

/// A load for each register. LLVM 22.1 splits a larger one itself, and where it finds that no lane
/// of a half is in the mask, it loads that half as a whole: what lies in memory instead of 0.
Value Widener::maskedLoad(Location loc, VectorType type, Value address) {
  Type element = type.getElementType();
  int64_t part =
      std::min(lanes, registerLanes * 32 / std::max(32u, element.getIntOrFloatBitWidth()));
  assert(part > 0 && lanes % part == 0 && "registers are as wide as 64 bits, and divide a vector");
  auto partType = VectorType::get({part}, element);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(partType));
  if (part == lanes)
    return LLVM::MaskedLoadOp::create(builder, loc, type, address, mask, zero,
                                      storedBytes(element));
  Value whole = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (int64_t at = 0; at < lanes; at += part) {
    Value place = LLVM::GEPOp::create(builder, loc, address.getType(), element, address,
                                      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(at))});
    Value some = vector::ExtractStridedSliceOp::create(builder, loc, mask, {at}, {part}, {1});
    Value loaded =
        LLVM::MaskedLoadOp::create(builder, loc, partType, place, some, zero, storedBytes(element));
    whole = vector::InsertStridedSliceOp::create(builder, loc, loaded, whole, ArrayRef<int64_t>{at},
                                                 ArrayRef<int64_t>{1});
  }
  return whole;
}

bool Widener::isFirstLane(Value mask) {
  auto known = mask ? mask.getDefiningOp<vector::ConstantMaskOp>() : nullptr;
  return known && known.getMaskDimSizes() == ArrayRef<int64_t>{1};
}

bool Widener::memory(Operation *op, Value address) {
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
  } else if (at.scalar) {
    result = maskedLoad(loc, type, at.scalar);
  } else {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    result =
        LLVM::masked_gather::create(builder, loc, type, at.vector, maskOrAll(loc), zero, alignment);
  }
  map(op->getResult(0), {Value(), 0, result});
  return true;
}

bool Widener::nested(scf::ForOp loop) {
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

bool Widener::conditional(scf::IfOp op) {
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

} // namespace weir
