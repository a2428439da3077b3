//===- ElementwiseOps.cpp - Elementwise reference semantics ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers are 32 bits wide and wrap around. NaN is an integer or truth value that is not known
// (read from memory that nothing has written, ir/reference/Memory.h), and so is what is made of it.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace weir::reference {
namespace {

bool isInteger(mlir::Value value) {
  return llvm::isa<mlir::IntegerType>(tensorType(value).getElementType());
}

bool unknown(double a, double b = 0) { return std::isnan(a) || std::isnan(b); }

double wrap(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

template <class F> Tensors map(const Tensor &x, F f) {
  Tensors results;
  Tensor &result = results.emplace_back(x.shape);
  for (size_t i = 0; i < x.values.size(); ++i)
    result.values[i] = f(x.values[i]);
  return results;
}

template <class F> Tensors map(const Tensor &a, const Tensor &b, F f) {
  Tensors results;
  Tensor &result = results.emplace_back(a.shape);
  for (size_t i = 0; i < a.values.size(); ++i)
    result.values[i] = f(a.values[i], b.values[i]);
  return results;
}

/// A binary op with an integer variant.
template <class Real, class Integer>
Tensors map(mlir::Operation *op, Inputs in, Real real, Integer integer) {
  if (!isInteger(op->getOperand(0)))
    return map(in[0], in[1], real);
  return map(in[0], in[1], [&](double a, double b) {
    return unknown(a, b) ? NAN : wrap(integer(static_cast<int64_t>(a), static_cast<int64_t>(b)));
  });
}

Tensors neg(NegOp op, Inputs in) {
  if (isInteger(op.getResult()))
    return map(in[0], [](double x) { return unknown(x) ? x : wrap(-static_cast<int64_t>(x)); });
  return map(in[0], [](double x) { return -x; });
}
Tensors abs(AbsOp op, Inputs in) {
  if (isInteger(op.getResult()))
    return map(in[0],
               [](double x) { return unknown(x) ? x : wrap(std::abs(static_cast<int64_t>(x))); });
  return map(in[0], [](double x) { return std::fabs(x); });
}
Tensors chosenAbs(AbsOp, Inputs in, Before before) {
  return map(before(0), in[0], [](double was, double x) {
    return was > 0 ? x : was < 0 ? -x : std::isnan(x) ? x : 0;
  });
}
Tensors exp(ExpOp, Inputs in) {
  return map(in[0], [](double x) { return std::exp(x); });
}
Tensors log(LogOp, Inputs in) {
  return map(in[0], [](double x) { return std::log(x); });
}
Tensors expm1(Expm1Op, Inputs in) {
  return map(in[0], [](double x) { return std::expm1(x); });
}
Tensors log1p(Log1pOp, Inputs in) {
  return map(in[0], [](double x) { return std::log1p(x); });
}
Tensors sqrt(SqrtOp, Inputs in) {
  return map(in[0], [](double x) { return std::sqrt(x); });
}
Tensors rsqrt(RsqrtOp, Inputs in) {
  return map(in[0], [](double x) { return 1 / std::sqrt(x); });
}
Tensors tanh(TanhOp, Inputs in) {
  return map(in[0], [](double x) { return std::tanh(x); });
}
Tensors sigmoid(SigmoidOp, Inputs in) {
  return map(in[0], [](double x) { return 1 / (1 + std::exp(-x)); });
}
Tensors normalCdf(NormalCdfOp, Inputs in) {
  return map(in[0], [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); });
}
Tensors sin(SinOp, Inputs in) {
  return map(in[0], [](double x) { return std::sin(x); });
}
Tensors cos(CosOp, Inputs in) {
  return map(in[0], [](double x) { return std::cos(x); });
}
Tensors erf(ErfOp, Inputs in) {
  return map(in[0], [](double x) { return std::erf(x); });
}
Tensors sign(SignOp, Inputs in) {
  return map(in[0], [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; });
}
Tensors chosenSign(SignOp op, Inputs, Before before) { return sign(op, before(0)); }
Tensors floor(FloorOp, Inputs in) {
  return map(in[0], [](double x) { return std::floor(x); });
}
Tensors chosenFloor(FloorOp op, Inputs, Before before) { return floor(op, before(0)); }
Tensors powerOfTwo(PowerOfTwoOp, Inputs in) {
  return map(in[0], [](double x) {
    double magnitude = std::fabs(x);
    return !std::isfinite(x)      ? INFINITY
           : magnitude < 0x1p-126 ? 0
                                  : std::exp2(std::ilogb(magnitude));
  });
}
Tensors chosenPowerOfTwo(PowerOfTwoOp op, Inputs, Before before) {
  return powerOfTwo(op, before(0));
}
Tensors stopGradient(StopGradientOp, Inputs in) { return {in[0]}; }
Tensors logicalNot(NotOp, Inputs in) {
  return map(in[0], [](double x) { return unknown(x) ? x : x == 0; });
}

Tensors add(AddOp op, Inputs in) { return map(op, in, std::plus<double>(), std::plus<int64_t>()); }
Tensors sub(SubOp op, Inputs in) {
  return map(op, in, std::minus<double>(), std::minus<int64_t>());
}
Tensors mul(MulOp op, Inputs in) {
  return map(op, in, std::multiplies<double>(), std::multiplies<int64_t>());
}
Tensors div(DivOp op, Inputs in) {
  return map(op, in, std::divides<double>(),
             [](int64_t a, int64_t b) { return b == 0 ? 0 : a / b; });
}
Tensors rem(RemOp op, Inputs in) {
  return map(
      op, in, [](double a, double b) { return std::fmod(a, b); },
      [](int64_t a, int64_t b) { return b == 0 ? 0 : a % b; });
}
Tensors max(MaxOp, Inputs in) {
  return map(in[0], in[1], [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : a > b ? a : b;
  });
}
Tensors min(MinOp, Inputs in) {
  return map(in[0], in[1], [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : a < b ? a : b;
  });
}
/// The operand of those that were compared: the first where `isFirst` of these.
template <class IsFirst> Tensors chosen(Inputs in, Before before, IsFirst isFirst) {
  const Tensor &a = before(0), &b = before(1);
  Tensor result = in[1];
  for (size_t i = 0; i < result.values.size(); ++i)
    if (isFirst(a.values[i], b.values[i]) || std::isnan(in[0].values[i]))
      result.values[i] = in[0].values[i];
  return {result};
}
Tensors chosenMax(MaxOp, Inputs in, Before before) {
  return chosen(in, before, std::greater_equal<double>());
}
Tensors chosenMin(MinOp, Inputs in, Before before) {
  return chosen(in, before, std::less_equal<double>());
}
Tensors pow(PowOp, Inputs in) {
  return map(in[0], in[1], [](double a, double b) { return std::pow(a, b); });
}
Tensors logicalAnd(AndOp, Inputs in) {
  return map(in[0], in[1],
             [](double a, double b) { return unknown(a, b) ? NAN : a != 0 && b != 0; });
}
Tensors logicalOr(OrOp, Inputs in) {
  return map(in[0], in[1],
             [](double a, double b) { return unknown(a, b) ? NAN : a != 0 || b != 0; });
}

Tensors compare(CompareOp op, Inputs in) {
  bool exact = isInteger(op.getLhs());
  return map(in[0], in[1], [&](double a, double b) -> double {
    if (exact && unknown(a, b))
      return NAN;
    switch (op.getPredicate()) {
    case Predicate::eq:
      return a == b;
    case Predicate::ne:
      return a != b;
    case Predicate::lt:
      return a < b;
    case Predicate::le:
      return a <= b;
    case Predicate::gt:
      return a > b;
    case Predicate::ge:
      return a >= b;
    }
    llvm_unreachable("a predicate");
  });
}

Tensors isFinite(IsFiniteOp, Inputs in) {
  return map(in[0], [](double x) { return std::isfinite(x); });
}

Tensors select(SelectOp, Inputs in) {
  Tensor result(in[0].shape);
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = unknown(in[0].values[i]) ? NAN
                       : in[0].values[i] != 0   ? in[1].values[i]
                                                : in[2].values[i];
  return {result};
}

Tensors cast(CastOp op, Inputs in, Interpreter &running) {
  mlir::Type to = tensorType(op.getResult()).getElementType();
  if (isLow(to) && !running.rounds)
    return {in[0]};
  if (isLow(to))
    return map(in[0], [element = *elementOf(to)](double x) { return rounded(element, x); });
  if (!isInteger(op.getResult()))
    return {in[0]};
  unsigned width = tensorType(op.getResult()).getElementTypeBitWidth();
  bool exact = isInteger(op.getInput());
  double low = width == 8 ? 0 : INT32_MIN, high = width == 8 ? UINT8_MAX : INT32_MAX;
  return map(in[0], [&](double x) -> double {
    if (exact && unknown(x))
      return x;
    if (width == 1)
      return x != 0;
    return unknown(x) ? low : std::clamp(std::trunc(x), low, high);
  });
}

/// A value that is rounded to low precision is so by as much as before: its derivative is 1.
Tensors chosenCast(CastOp op, Inputs in, Before before, Interpreter &running) {
  Tensors results = cast(op, in, running);
  bool floats = llvm::isa<mlir::FloatType>(tensorType(op.getInput()).getElementType());
  if (!floats || !isLow(tensorType(op.getResult()).getElementType()))
    return results;
  const Tensor &was = before(0);
  Tensors rounded = cast(op, was, running);
  for (size_t i = 0; i < was.values.size(); ++i)
    results[0].values[i] = in[0].values[i] + (rounded[0].values[i] - was.values[i]);
  return results;
}

/// Between two neighbours of sixteen bits x becomes the one further from zero where the draw and
/// the part of their distance that x is past the nearer one are 1 in sum.
double roundedBy(double draw, double x) {
  constexpr double largest = 0x1.FEp127;
  if (!std::isfinite(x) || x == 0)
    return x;
  double size = std::min(std::fabs(x), largest);
  int exponent = std::max(std::ilogb(size), -126); // below it neighbours are as far apart as there
  double distance = std::ldexp(1.0, exponent - 7);
  double nearer = std::floor(size / distance) * distance;
  double chosen = (size - nearer) / distance + draw >= 1 ? nearer + distance : nearer;
  return std::copysign(std::min(chosen, largest), x);
}

Tensors roundAtRandom(RoundAtRandomOp, Inputs in) {
  return map(in[0], in[1], [](double x, double draw) {
    double bits = std::isnan(draw) ? 0 : std::clamp(std::floor(draw * 65536), 0.0, 65535.0);
    return roundedBy(bits / 65536, x);
  });
}

} // namespace

void attachElementwise(mlir::MLIRContext &context) {
  attach<NegOp, neg>(context);
  attach<AbsOp, abs, chosenAbs>(context);
  attach<ExpOp, exp>(context);
  attach<Expm1Op, expm1>(context);
  attach<LogOp, log>(context);
  attach<Log1pOp, log1p>(context);
  attach<SqrtOp, sqrt>(context);
  attach<RsqrtOp, rsqrt>(context);
  attach<TanhOp, tanh>(context);
  attach<SigmoidOp, sigmoid>(context);
  attach<NormalCdfOp, normalCdf>(context);
  attach<SinOp, sin>(context);
  attach<CosOp, cos>(context);
  attach<ErfOp, erf>(context);
  attach<SignOp, sign, chosenSign>(context);
  attach<FloorOp, floor, chosenFloor>(context);
  attach<PowerOfTwoOp, powerOfTwo, chosenPowerOfTwo>(context);
  attach<StopGradientOp, stopGradient>(context);
  attach<NotOp, logicalNot>(context);
  attach<AddOp, add>(context);
  attach<SubOp, sub>(context);
  attach<MulOp, mul>(context);
  attach<DivOp, div>(context);
  attach<RemOp, rem>(context);
  attach<MaxOp, max, chosenMax>(context);
  attach<MinOp, min, chosenMin>(context);
  attach<PowOp, pow>(context);
  attach<AndOp, logicalAnd>(context);
  attach<OrOp, logicalOr>(context);
  attach<CompareOp, compare>(context);
  attach<IsFiniteOp, isFinite>(context);
  attach<SelectOp, select>(context);
  attach<CastOp, cast, chosenCast>(context);
  attach<RoundAtRandomOp, roundAtRandom>(context);
}

} // namespace weir::reference
