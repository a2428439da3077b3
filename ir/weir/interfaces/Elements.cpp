//===- Elements.cpp - Building scalars and loops ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

Type scalarType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  if (isLow(element))
    return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
  return element;
}

double reductionIdentity(Reduction kind, Type type) {
  if (kind == Reduction::sum)
    return 0;
  double greatest = std::numeric_limits<double>::infinity(), least = -greatest;
  if (!isa<FloatType>(type)) {
    greatest = std::numeric_limits<int32_t>::max();
    least = std::numeric_limits<int32_t>::min();
  }
  return kind == Reduction::max ? least : greatest;
}

Value Scalars::constant(Type type, double value) {
  TypedAttr attribute = isa<FloatType>(type)
                            ? TypedAttr(builder.getFloatAttr(type, value))
                            : TypedAttr(builder.getIntegerAttr(type, int64_t(value)));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value Scalars::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value Scalars::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}
Value Scalars::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}
Value Scalars::larger(Value a, Value b) {
  if (!isa<FloatType>(getElementTypeOrSelf(a)))
    return compare(arith::CmpIPredicate::sgt, a, b);
  Value aboveOrNaN = compare(arith::CmpFPredicate::UGT, a, b);
  return arith::AndIOp::create(builder, loc, aboveOrNaN, compare(arith::CmpFPredicate::ORD, b, b));
}
Value Scalars::select(Value condition, Value onTrue, Value onFalse) {
  return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
}

Value Scalars::addf(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value Scalars::subf(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value Scalars::mulf(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value Scalars::divf(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value Scalars::exp(Value a) { return math::ExpOp::create(builder, loc, a); }
Value Scalars::log(Value a) { return math::LogOp::create(builder, loc, a); }

Value Scalars::widened(Value scalar, Type element) {
  if (!isLow(element))
    return scalar;
  Value real = arith::BitcastOp::create(builder, loc, element, scalar);
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), real);
}
Value Scalars::product(Operation *op, Value left, Value right) {
  return mulf(widened(left, tensorType(op->getOperand(0)).getElementType()),
              widened(right, tensorType(op->getOperand(1)).getElementType()));
}

Value Scalars::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value Scalars::sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value Scalars::mul(Value a, int64_t b) {
  return b == 1 ? a : builder.createOrFold<arith::MulIOp>(loc, a, index(b));
}
Value Scalars::div(Value a, int64_t b) {
  return b == 1 ? a : builder.createOrFold<arith::DivUIOp>(loc, a, index(b));
}
Value Scalars::rem(Value a, int64_t b) {
  return b == 1 ? index(0) : builder.createOrFold<arith::RemUIOp>(loc, a, index(b));
}
Value Scalars::ceilDiv(Value a, int64_t b) { return b == 1 ? a : div(add(a, index(b - 1)), b); }
Value Scalars::max(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
Value Scalars::min(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }

Value Scalars::readInside(Value integer, int64_t size, llvm::function_ref<Value(Value)> read) {
  Value position = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), integer);
  // Unsigned, what is negative is larger than any size. A row is read in any case: a load that
  // depends on nothing is vectorized.
  Value inside = compare(arith::CmpIPredicate::ult, position, index(size));
  Value element = read(min(max(position, index(0)), index(size - 1)));
  return select(inside, element, constant(element.getType(), 0));
}

Value Scalars::linear(ValueRange indices, ArrayRef<int64_t> shape) {
  Value position;
  for (auto [i, size] : llvm::zip_equal(indices, shape)) {
    if (size == 1)
      continue;
    position = position ? add(mul(position, size), i) : i;
  }
  return position ? position : index(0);
}

SmallVector<Value> Scalars::delinear(Value position, ArrayRef<int64_t> shape) {
  SmallVector<Value> indices(shape.size());
  // The first dimension that is not of size 1 takes the whole quotient, without a remainder.
  size_t outermost = 0;
  while (outermost < shape.size() && shape[outermost] == 1)
    ++outermost;
  for (size_t i = shape.size(); i-- > 0;) {
    if (i <= outermost) {
      indices[i] = i == outermost ? position : index(0);
      continue;
    }
    indices[i] = rem(position, shape[i]);
    position = div(position, shape[i]);
  }
  return indices;
}

// Whether a loop from `low` to `high` surely runs exactly once.
static bool runsOnce(Value low, Value high) {
  auto first = getConstantIntValue(low), end = getConstantIntValue(high);
  return first && end && *end == *first + 1;
}

static SmallVector<Value> nest(Scalars &s, ArrayRef<std::pair<Value, Value>> bounds,
                               SmallVector<Value> &indices, ValueRange carried,
                               Scalars::Body body) {
  if (indices.size() == bounds.size())
    return body(indices, carried);
  auto [low, high] = bounds[indices.size()];
  if (runsOnce(low, high)) {
    indices.push_back(low);
    auto results = nest(s, bounds, indices, carried, body);
    indices.pop_back();
    return results;
  }
  auto loop = scf::ForOp::create(s.builder, s.loc, low, high, s.index(1), carried);
  OpBuilder::InsertionGuard guard(s.builder);
  s.builder.setInsertionPointToStart(loop.getBody());
  indices.push_back(loop.getInductionVar());
  auto results = nest(s, bounds, indices, loop.getRegionIterArgs(), body);
  indices.pop_back();
  if (!carried.empty()) // Without carried values the loop has its terminator already.
    scf::YieldOp::create(s.builder, s.loc, results);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> Scalars::loops(ArrayRef<std::pair<Value, Value>> bounds, ValueRange initial,
                                  Body body) {
  SmallVector<Value> indices;
  return nest(*this, bounds, indices, initial, body);
}

SmallVector<Value> Scalars::loops(ArrayRef<int64_t> sizes, ValueRange initial, Body body) {
  SmallVector<std::pair<Value, Value>> bounds;
  for (int64_t size : sizes)
    bounds.push_back({index(0), index(size)});
  return loops(bounds, initial, body);
}

Value Scalars::sum(ArrayRef<std::pair<Value, Value>> bounds, Term term) {
  return loops(bounds, f32(0), [&](ValueRange indices, ValueRange carried) -> SmallVector<Value> {
    return {addf(carried[0], term(indices))};
  })[0];
}

Value Scalars::sum(ArrayRef<int64_t> sizes, Term term) {
  return loops(sizes, f32(0), [&](ValueRange indices, ValueRange carried) -> SmallVector<Value> {
    return {addf(carried[0], term(indices))};
  })[0];
}

} // namespace weir
