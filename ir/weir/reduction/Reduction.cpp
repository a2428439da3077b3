//===- Reduction.cpp - What is known of reduce and argmax ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/interfaces/GradientFormula.h"
#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

using Indices = SmallVector<Value>;
using Bounds = SmallVector<std::pair<Value, Value>>;

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  Value input = op.getInput();
  types.push_back(typeLike(input, withoutAxes(shapeOf(input), op.getAxes())));
  return success();
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  Shape shape = withoutAxes(shapeOf(op.getInput()), int64_t(op.getAxis()));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

LogicalResult ReduceOp::verify() {
  // C1
  int64_t rank = tensorType(getInput()).getRank(), last = -1;
  for (int64_t axis : getAxes()) {
    if (axis <= last || axis >= rank)
      return emitOpError() << "needs strictly increasing axes below " << rank;
    last = axis;
  }
  // C2
  if (failed(expectInferred(*this)))
    return failure();
  // C3
  bool sumsFloats =
      getKind() == Reduction::sum && isa<FloatType>(tensorType(getInput()).getElementType());
  if (getAccumulate() && !sumsFloats)
    return emitOpError("keeps no sum of floats, but has `accumulate`");
  return success();
}

LogicalResult ArgMaxOp::verify() {
  // C1
  int64_t axis = getAxis(), rank = tensorType(getInput()).getRank();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "has no axis " << axis << " among " << rank;
  // C2
  return expectInferred(*this);
}

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return getInput();
  Attribute value = adaptor.getInput();
  int64_t count = tensorType(getInput()).getNumElements() /
                  std::max<int64_t>(1, tensorType(getResult()).getNumElements());
  if (!value || count == 0)
    return {};
  if (getKind() != Reduction::sum)
    return value;
  // Only sums whose every step is exact in f32: of whole numbers, below 2^24.
  if (auto number = dyn_cast<FloatAttr>(value)) {
    double term = number.getValueAsDouble(), sum = term * double(count);
    if (std::abs(sum) <= 0x1p24 && std::floor(term) == term)
      return FloatAttr::get(number.getType(), sum);
  }
  return {};
}

Linearity ReduceOp::linearity() {
  return getKind() == Reduction::sum ? Linearity::together : Linearity::none;
}

CastRule ReduceOp::castRule() {
  if (getKind() == Reduction::sum)
    return floatsBut(*this, true, Multiplies::nothing, {}, {0});
  return floatsBut(*this, false, Multiplies::nothing, {}, {});
}

RoundingKind ReduceOp::rounding() {
  return getKind() == Reduction::sum ? RoundingKind::sum : RoundingKind::none;
}

FusionClass ReduceOp::fusionClass() {
  return reductionSplit() ? FusionClass::fused : FusionClass::root;
}

std::optional<ReductionSplit> ReduceOp::reductionSplit() {
  ArrayRef<int64_t> axes = getAxes();
  int64_t rank = tensorType(getInput()).getRank(), count = axes.size();
  if (axes.empty())
    return std::nullopt;
  bool contiguous = axes.back() - axes.front() + 1 == count;
  if (contiguous && axes.front() == 0)
    return ReductionSplit{count == rank ? std::max<int64_t>(rank - 1, 0) : count, false};
  if (contiguous && axes.back() == rank - 1)
    return ReductionSplit{rank - count, true};
  return std::nullopt;
}

ShardRule ReduceOp::shardRule() {
  Kind kind = getKind() == Reduction::sum   ? Kind::sum
              : getKind() == Reduction::max ? Kind::max
                                            : Kind::min;
  Rule rule;
  Factors input = rule.factors(shapeOf(getInput())), result;
  for (unsigned i = 0; i < input.size(); ++i) {
    if (llvm::is_contained(getAxes(), i))
      rule.rule.factors[input[i]].kind = kind;
    else
      result.push_back(input[i]);
  }
  return rule.operand(input).result(result).rule;
}

ShardRule ArgMaxOp::shardRule() {
  Rule rule;
  Factors input = rule.factors(shapeOf(getInput())), result(input);
  rule.rule.factors[input[getAxis()]].kind = Kind::whole;
  result.erase(result.begin() + getAxis());
  return rule.operand(input).result(result).rule;
}

// The cotangent of `input`, of whose largest (or smallest) elements along `axis` it is given.
static Value toTheLargest(Formula t, Reduction kind, Value input, int64_t axis, Value cotangent) {
  Value x = kind == Reduction::max ? input : Value(-t(input));
  RankedTensorType indices = tensorType(input).clone(t.builder.getI32Type());
  Value largest = t.build<ArgMaxOp>(x, axis);
  Term here =
      compare(Predicate::eq, t.build<IotaOp>(indices, axis), spread(t, largest, indices, axis));
  Term all = spread(t, cotangent, tensorType(input), axis);
  return select(here, all, all.number(0));
}

LogicalResult ReduceOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value x = getInput();
  if (getKind() == Reduction::sum) {
    operandCotangents.push_back(spread(t, cotangents[0], tensorType(x), getAxes()));
    return success();
  }
  // One axis after the other, the last one first: the largest element that is found is the first in
  // row-major order. Its place is asked for, and not which elements are equal to the maximum: what
  // is computed again, or stored in a smaller type, may be equal to it nowhere.
  ArrayRef<int64_t> axes = getAxes();
  SmallVector<Value> inputs;
  for (int64_t axis : llvm::reverse(axes)) {
    inputs.push_back(x);
    x = axis == axes.front() ? getResult()
                             : Value(t.build<ReduceOp>(x, getKind(), ArrayRef<int64_t>(axis)));
  }
  Value cotangent = cotangents[0];
  for (auto [axis, input] : llvm::zip_equal(axes, llvm::reverse(inputs)))
    cotangent = toTheLargest(t, getKind(), input, axis, cotangent);
  operandCotangents.push_back(cotangent);
  return success();
}

Value ReduceOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Location loc = getLoc();
  Type type = tensorType(getInput()).getElementType();
  bool isFloat = isa<FloatType>(type);
  Shape sizes;
  for (int64_t axis : getAxes())
    sizes.push_back(shapeOf(getInput())[axis]);
  Value initial = s.constant(type, reductionIdentity(getKind(), type));
  auto combined = [&](Value a, Value b) -> Value {
    switch (getKind()) {
    case Reduction::sum:
      return isFloat ? s.addf(a, b) : arith::AddIOp::create(builder, loc, a, b).getResult();
    case Reduction::max:
      return isFloat ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                     : arith::MaxSIOp::create(builder, loc, a, b).getResult();
    case Reduction::min:
      return isFloat ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                     : arith::MinSIOp::create(builder, loc, a, b).getResult();
    }
    llvm_unreachable("a reduction of another kind");
  };
  return s.loops(sizes, initial, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    Indices source;
    size_t reduced = 0, kept = 0;
    for (int64_t i = 0, rank = tensorType(getInput()).getRank(); i < rank; ++i)
      source.push_back(llvm::is_contained(getAxes(), i) ? at[reduced++] : indices[kept++]);
    return {combined(carried[0], operand(0, source))};
  })[0];
}

Value ArgMaxOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Indices source(indices);
  source.insert(source.begin() + getAxis(), s.index(0));
  int64_t size = shapeOf(getInput())[getAxis()];
  if (size <= 1)
    return s.constant(builder.getI32Type(), 0);
  Value first = operand(0, source);
  Bounds bounds{{s.index(1), s.index(size)}};
  Indices initial{first, s.index(0)};
  auto results =
      s.loops(bounds, initial, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
        source[getAxis()] = at[0];
        Value element = operand(0, source);
        Value larger = s.larger(element, carried[0]);
        return {s.select(larger, element, carried[0]), s.select(larger, at[0], carried[1])};
      });
  return arith::IndexCastOp::create(builder, getLoc(), builder.getI32Type(), results[1]);
}

} // namespace weir
