//===- Elements.cpp - Scalars of the elementwise ops ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

Value elementwiseElement(Pointwise op, OpBuilder &builder, ValueRange indices, ElementOf operand) {
  SmallVector<Value> scalars;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    scalars.push_back(operand(i, indices));
  return op.combine(builder, scalars);
}

// A number of the type of `like`.
static Value number(OpBuilder &builder, Location loc, Value like, double value) {
  return Scalars(builder, loc).constant(like.getType(), value);
}

// `Float` for floats, `Integer` for the rest.
template <typename Float, typename Integer>
static Value either(OpBuilder &builder, Location loc, ValueRange scalars) {
  if (isa<FloatType>(scalars[0].getType()))
    return Float::create(builder, loc, scalars);
  return Integer::create(builder, loc, scalars);
}

Value NegOp::combine(OpBuilder &builder, ValueRange scalars) {
  if (isa<FloatType>(scalars[0].getType()))
    return arith::NegFOp::create(builder, getLoc(), scalars[0]);
  return arith::SubIOp::create(builder, getLoc(), number(builder, getLoc(), scalars[0], 0),
                               scalars[0]);
}

Value AbsOp::combine(OpBuilder &builder, ValueRange scalars) {
  return either<math::AbsFOp, math::AbsIOp>(builder, getLoc(), scalars);
}
Value ExpOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::ExpOp::create(builder, getLoc(), scalars[0]);
}
Value LogOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::LogOp::create(builder, getLoc(), scalars[0]);
}
Value Expm1Op::combine(OpBuilder &builder, ValueRange scalars) {
  return math::ExpM1Op::create(builder, getLoc(), scalars[0]);
}
Value Log1pOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::Log1pOp::create(builder, getLoc(), scalars[0]);
}
Value SqrtOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::SqrtOp::create(builder, getLoc(), scalars[0]);
}
Value RsqrtOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::RsqrtOp::create(builder, getLoc(), scalars[0]);
}
Value TanhOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::TanhOp::create(builder, getLoc(), scalars[0]);
}
Value SinOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::SinOp::create(builder, getLoc(), scalars[0]);
}
Value CosOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::CosOp::create(builder, getLoc(), scalars[0]);
}
Value ErfOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::ErfOp::create(builder, getLoc(), scalars[0]);
}

// A GPU divides by a reciprocal, which is as exact as its exponential.
static Value roughQuotient(Scalars &s, Value a, Value b) {
  return arith::DivFOp::create(s.builder, s.loc, a, b, arith::FastMathFlags::arcp);
}

// Where e^-x overflows, the quotient is 0.
Value SigmoidOp::combine(OpBuilder &builder, ValueRange scalars) {
  Scalars s(builder, getLoc());
  Value x = scalars[0];
  auto number = [&](double value) { return s.constant(x.getType(), value); };
  Value e = s.exp(arith::NegFOp::create(builder, getLoc(), x));
  return roughQuotient(s, number(1), s.addf(number(1), e));
}

// 1/2 + x p(x^2) near 0, elsewhere the tail exp(-x^2 / 2) q((|x| - 3.5) / (|x| + 3.5)) / (|x|
// + 3.5) or what is left of 1 (q as in M. Shepherd and J. Laframboise, "Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x", Mathematics of Computation 1981; both polynomials are minimax fits).
// Half the square has two parts, or its rounding would cost the tail its digits.
Value NormalCdfOp::combine(OpBuilder &builder, ValueRange scalars) {
  constexpr double nearest = 1.1, centre = 3.5;
  Scalars s(builder, getLoc());
  Location loc = getLoc();
  Value x = scalars[0];
  auto number = [&](double value) { return s.constant(x.getType(), value); };
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(builder, loc, a, b, c);
  };
  auto polynomial = [&](Value at, ArrayRef<double> coefficients) {
    Value result = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      result = fma(result, at, number(coefficient));
    return result;
  };
  Value near = fma(x,
                   polynomial(s.mulf(x, x), {-7.322450983338058e-06, 0.00011265496141277254,
                                             -0.0011856061173602939, 0.009973068721592426,
                                             -0.06649032980203629, 0.3989422917366028}),
                   number(0.5));
  Value magnitude = math::AbsFOp::create(builder, loc, x);
  Value scale = roughQuotient(s, number(1), s.addf(magnitude, number(centre)));
  Value q = polynomial(s.mulf(s.subf(magnitude, number(centre)), scale),
                       {-0.00026901240926235914, -0.0029353478457778692, 0.006402906961739063,
                        0.017363956198096275, -0.11604152619838715, 0.31542739272117615,
                        -0.5655621290206909, 0.7444160580635071});
  Value half = s.mulf(magnitude, number(0.5)), square = s.mulf(half, magnitude);
  Value negative = arith::NegFOp::create(builder, loc, half);
  Value rest = fma(negative, magnitude, square);
  Value tail = s.mulf(s.mulf(q, scale), s.exp(arith::NegFOp::create(builder, loc, square)));
  Value exact = fma(tail, rest, tail);
  // Far out the square is infinite, and what is left of it no number.
  tail = s.select(s.compare(arith::CmpFPredicate::OGT, magnitude, number(14)), number(0), exact);
  Value isLower = s.compare(arith::CmpFPredicate::OLT, x, number(0));
  Value far = s.select(isLower, tail, s.subf(number(1), tail));
  return s.select(s.compare(arith::CmpFPredicate::OLT, magnitude, number(nearest)), near, far);
}

Value FloorOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::FloorOp::create(builder, getLoc(), scalars[0]);
}
/// A float without its sign and its digits: of the bits of infinity, which are the exponent's.
Value PowerOfTwoOp::combine(OpBuilder &builder, ValueRange scalars) {
  auto real = cast<FloatType>(scalars[0].getType());
  APInt exponent = APFloat::getInf(real.getFloatSemantics()).bitcastToAPInt();
  Type whole = builder.getIntegerType(real.getWidth());
  Value mask =
      arith::ConstantOp::create(builder, getLoc(), builder.getIntegerAttr(whole, exponent));
  Value bits = arith::BitcastOp::create(builder, getLoc(), whole, scalars[0]);
  bits = arith::AndIOp::create(builder, getLoc(), bits, mask);
  return arith::BitcastOp::create(builder, getLoc(), real, bits);
}
Value StopGradientOp::combine(OpBuilder &builder, ValueRange scalars) { return scalars[0]; }

Value SignOp::combine(OpBuilder &builder, ValueRange scalars) {
  Scalars s(builder, getLoc());
  Value x = scalars[0], zero = s.constant(x.getType(), 0);
  // Zeros and NaN stay as they are; what is too small to be told from zero is one.
  Value same = s.select(s.compare(arith::CmpFPredicate::OEQ, x, zero), zero, x);
  Value negative =
      s.select(s.compare(arith::CmpFPredicate::OLT, x, zero), s.constant(x.getType(), -1), same);
  return s.select(s.compare(arith::CmpFPredicate::OGT, x, zero), s.constant(x.getType(), 1),
                  negative);
}

Value NotOp::combine(OpBuilder &builder, ValueRange scalars) {
  return arith::XOrIOp::create(builder, getLoc(), scalars[0],
                               number(builder, getLoc(), scalars[0], 1));
}

Value AddOp::combine(OpBuilder &builder, ValueRange scalars) {
  return either<arith::AddFOp, arith::AddIOp>(builder, getLoc(), scalars);
}
Value SubOp::combine(OpBuilder &builder, ValueRange scalars) {
  return either<arith::SubFOp, arith::SubIOp>(builder, getLoc(), scalars);
}
Value MulOp::combine(OpBuilder &builder, ValueRange scalars) {
  return either<arith::MulFOp, arith::MulIOp>(builder, getLoc(), scalars);
}
Value MaxOp::combine(OpBuilder &builder, ValueRange scalars) {
  return either<arith::MaximumFOp, arith::MaxSIOp>(builder, getLoc(), scalars);
}
Value MinOp::combine(OpBuilder &builder, ValueRange scalars) {
  return either<arith::MinimumFOp, arith::MinSIOp>(builder, getLoc(), scalars);
}
Value PowOp::combine(OpBuilder &builder, ValueRange scalars) {
  return math::PowFOp::create(builder, getLoc(), scalars[0], scalars[1]);
}
Value AndOp::combine(OpBuilder &builder, ValueRange scalars) {
  return arith::AndIOp::create(builder, getLoc(), scalars);
}
Value OrOp::combine(OpBuilder &builder, ValueRange scalars) {
  return arith::OrIOp::create(builder, getLoc(), scalars);
}

// Integer division by 0, and of the lowest integer by -1, stops a program: both divisors are made
// 1, and their results chosen.
static std::tuple<Value, Value, Value> safeDivisor(Scalars &s, Value divisor) {
  Value isZero = s.compare(arith::CmpIPredicate::eq, divisor, s.constant(divisor.getType(), 0));
  Value isMinusOne =
      s.compare(arith::CmpIPredicate::eq, divisor, s.constant(divisor.getType(), -1));
  Value unsafe = arith::OrIOp::create(s.builder, s.loc, isZero, isMinusOne);
  return {s.select(unsafe, s.constant(divisor.getType(), 1), divisor), isZero, isMinusOne};
}

Value DivOp::combine(OpBuilder &builder, ValueRange scalars) {
  if (isa<FloatType>(scalars[0].getType()))
    return arith::DivFOp::create(builder, getLoc(), scalars);
  Scalars s(builder, getLoc());
  auto [divisor, isZero, isMinusOne] = safeDivisor(s, scalars[1]);
  Value zero = s.constant(scalars[0].getType(), 0);
  Value quotient = arith::DivSIOp::create(builder, getLoc(), scalars[0], divisor);
  Value negated = arith::SubIOp::create(builder, getLoc(), zero, scalars[0]);
  return s.select(isZero, zero, s.select(isMinusOne, negated, quotient));
}

Value RemOp::combine(OpBuilder &builder, ValueRange scalars) {
  Scalars s(builder, getLoc());
  // The remainder of a division by 1 is the 0 that is due for both.
  return arith::RemSIOp::create(builder, getLoc(), scalars[0],
                                std::get<0>(safeDivisor(s, scalars[1])));
}

Value CompareOp::combine(OpBuilder &builder, ValueRange scalars) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static constexpr I integers[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  auto predicate = static_cast<unsigned>(getPredicate());
  Scalars s(builder, getLoc());
  if (isa<FloatType>(scalars[0].getType()))
    return s.compare(floats[predicate], scalars[0], scalars[1]);
  return s.compare(integers[predicate], scalars[0], scalars[1]);
}

Value IsFiniteOp::combine(OpBuilder &builder, ValueRange scalars) {
  Scalars s(builder, getLoc());
  Value magnitude = math::AbsFOp::create(builder, getLoc(), scalars[0]);
  Value infinity = s.constant(magnitude.getType(), std::numeric_limits<double>::infinity());
  return s.compare(arith::CmpFPredicate::OLT, magnitude, infinity);
}

Value SelectOp::combine(OpBuilder &builder, ValueRange scalars) {
  return arith::SelectOp::create(builder, getLoc(), scalars);
}

// A float as an integer of `bits` bits, truncated, at most its bounds; NaN goes to the lowest.
// `high` is the largest float that converts.
static Value truncated(Scalars &s, Value value, unsigned bits, double low, double high,
                       bool isSigned) {
  Value bounded =
      arith::MaxNumFOp::create(s.builder, s.loc, value, s.constant(value.getType(), low));
  bounded = arith::MinNumFOp::create(s.builder, s.loc, bounded, s.constant(value.getType(), high));
  Type type = s.builder.getIntegerType(bits);
  if (!isSigned)
    return arith::FPToUIOp::create(s.builder, s.loc, type, bounded);
  // The highest signed integer is no float.
  Value converted = arith::FPToSIOp::create(s.builder, s.loc, type, bounded);
  Value above = s.compare(arith::CmpFPredicate::OGT, value, s.constant(value.getType(), high));
  return s.select(above, s.constant(type, double((int64_t(1) << (bits - 1)) - 1)), converted);
}

Value CastOp::combine(OpBuilder &builder, ValueRange scalars) {
  Scalars s(builder, getLoc());
  Location loc = getLoc();
  Value x = scalars[0];
  Type from = tensorType(getInput()).getElementType(),
       to = tensorType(getResult()).getElementType();
  if (from == to)
    return x;
  if (isLow(from))
    return s.widened(x, from);
  if (isLow(to))
    return arith::BitcastOp::create(builder, loc, scalarType(to),
                                    arith::TruncFOp::create(builder, loc, to, x));
  if (to.isInteger(1)) {
    Value zero = s.constant(x.getType(), 0);
    return from.isF32() ? s.compare(arith::CmpFPredicate::UNE, x, zero)
                        : s.compare(arith::CmpIPredicate::ne, x, zero);
  }
  if (from.isF32()) // 2147483520 is the largest float below 2^31.
    return to.isInteger(8) ? truncated(s, x, 8, 0, 255, false)
                           : truncated(s, x, 32, -2147483648.0, 2147483520.0, true);
  if (from.isInteger(32) && to.isInteger(8)) {
    Value low = arith::MaxSIOp::create(builder, loc, x, s.constant(x.getType(), 0));
    Value bounded = arith::MinSIOp::create(builder, loc, low, s.constant(x.getType(), 255));
    return arith::TruncIOp::create(builder, loc, builder.getI8Type(), bounded);
  }
  // What is left is wider: from i1, ui8 and i32 to i32, ui8 or f32. Bytes have no sign.
  Type wide = to.isInteger(8) ? builder.getI8Type() : builder.getI32Type();
  if (!from.isInteger(32))
    x = arith::ExtUIOp::create(builder, loc, wide, x);
  return to.isF32() ? arith::SIToFPOp::create(builder, loc, to, x).getResult() : x;
}

Value RoundAtRandomOp::combine(OpBuilder &builder, ValueRange scalars) {
  Location loc = getLoc();
  Scalars s(builder, loc);
  Type i32 = builder.getI32Type();
  auto bits = [&](uint32_t value) { return s.constant(i32, double(int32_t(value))); };
  auto masked = [&](Value value, uint32_t mask) -> Value {
    return arith::AndIOp::create(builder, loc, value, bits(mask));
  };
  Value wide = s.mulf(scalars[1], s.f32(65536));
  Value known = arith::MaxNumFOp::create(builder, loc, wide, s.f32(0));
  Value bounded = arith::MinNumFOp::create(builder, loc, known, s.f32(65535));
  Value draw = arith::FPToSIOp::create(builder, loc, i32, bounded);
  // A float's bits without its sign are in the order of its size.
  Value x = arith::BitcastOp::create(builder, loc, i32, scalars[0]);
  Value size = masked(x, 0x7FFFFFFF), sign = masked(x, 0x80000000);
  Value sum = arith::AddIOp::create(builder, loc, size, draw);
  Value kept = arith::MinSIOp::create(builder, loc, masked(sum, 0xFFFF0000), bits(0x7F7F0000));
  Value finite = s.compare(arith::CmpIPredicate::slt, size, bits(0x7F800000));
  Value rounded = s.select(finite, arith::OrIOp::create(builder, loc, kept, sign), x);
  return arith::BitcastOp::create(builder, loc, scalars[0].getType(), rounded);
}

} // namespace weir
