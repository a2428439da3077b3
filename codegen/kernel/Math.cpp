//===- Math.cpp - Elementary functions without a library ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function is brought to a short range, where a polynomial serves: within 1.5 units in the
// last place, pow within 3, and sin and cos where the language states their domain. Results below
// 2^-126 are 0. Everything works on scalars and on vectors of f32.
//
// No elementwise op gets flags that would let LLVM round in another way (products into sums,
// divisions into products, sums in another order). Fusion computes values again, in another kernel
// or twice in one, and they have to have the same bits there: x equals its own largest element, x -
// mean(x) is 0 where x is alone. What gains from fused products says so with math.fma. Only the sum
// across a vector's lanes, where a reduction ends, may take any order.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/Expand.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

using namespace mlir;

namespace weir {
namespace {

/// Builds arithmetic on values of one type.
struct Floats {
  OpBuilder &builder;
  Location loc;
  Type type;

  Value constant(double value) { return splat(builder.getF32FloatAttr(float(value))); }
  Value bits(int32_t value) { return splat(builder.getI32IntegerAttr(value)); }
  Value splat(TypedAttr scalar) {
    TypedAttr attribute = scalar;
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector.clone(scalar.getType()), Attribute(scalar));
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value add(Value a, double b) { return add(a, constant(b)); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value mul(Value a, double b) { return mul(a, constant(b)); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  /// a b + c, rounded once.
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value fma(Value a, double b, Value c) { return fma(a, constant(b), c); }
  /// The polynomial with these coefficients, the highest power's first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value result = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      result = fma(result, x, constant(coefficient));
    return result;
  }
  Value compare(arith::CmpFPredicate predicate, Value a, double b) {
    return compare(predicate, a, constant(b));
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value either(Value a, Value b) { return arith::OrIOp::create(builder, loc, a, b); }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value withSign(Value magnitude, Value sign) {
    return math::CopySignOp::create(builder, loc, magnitude, sign);
  }
  Value isWhole(Value x) {
    return compare(arith::CmpFPredicate::OEQ, math::FloorOp::create(builder, loc, x), x);
  }

  Value bitsOf(Value x) { return cast(x, builder.getI32Type()); }
  Value ofBits(Value x) { return cast(x, builder.getF32Type()); }
  Value addBits(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subBits(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }

private:
  Value cast(Value x, Type element) {
    auto vector = dyn_cast<VectorType>(type);
    return arith::BitcastOp::create(builder, loc, vector ? Type(vector.clone(element)) : element,
                                    x);
  }
};

using Is = arith::CmpFPredicate;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// e^x is finite up to here, and a normal f32 from here on.
constexpr double highestExponent = 88.72283172607422, lowestExponent = -87.33654022216797;

/// x as n log(2) + r with a whole n.
struct Halvings {
  Value r, exponent; ///< n in an f32's exponent bits, and garbage where e^x is out of range
};
Halvings halvings(Floats f, Value x) {
  // What is added to 1.5 2^23 has its whole part in the lowest bits.
  Value shifted = f.fma(x, 1 / std::numbers::ln2, f.constant(0x1.8p23));
  Value n = f.sub(shifted, f.constant(0x1.8p23));
  // log(2) in two parts, of which whole multiples of the first are exact.
  Value r = f.fma(n, -0.693359375, x);
  r = f.fma(n, 0.693359375 - std::numbers::ln2, r);
  Value exponent =
      arith::ShLIOp::create(f.builder, f.loc, f.bitsOf(shifted), f.bits(23)).getResult();
  return {r, exponent};
}

/// e^r - 1 for |r| up to log(2) / 2.
Value exponentialLessOne(Floats f, Value r) {
  Value p = f.polynomial(r, {0.0001984595728572458, 0.0013941653305664659, 0.008333391509950161,
                             0.04166634753346443, 0.1666666567325592, 0.5});
  return f.fma(f.mul(p, r), r, r);
}

Value exponential(Floats f, math::ExpOp op) {
  Value x = op.getOperand();
  Halvings h = halvings(f, x);
  Value y = f.add(exponentialLessOne(f, h.r), 1);
  y = f.ofBits(f.addBits(f.bitsOf(y), h.exponent));
  y = f.select(f.compare(Is::OLT, x, lowestExponent), f.constant(0), y);
  return f.select(f.compare(Is::UGT, x, highestExponent), f.mul(x, infinity), y);
}

/// 2^n p + (2^n - 1), halved until the end so that 2^n is finite.
Value exponentialLessOne(Floats f, math::ExpM1Op op) {
  Value x = op.getOperand();
  Halvings h = halvings(f, x);
  Value half = f.ofBits(f.addBits(h.exponent, f.bits(126 << 23)));
  Value y = f.fma(half, exponentialLessOne(f, h.r), f.sub(half, f.constant(0.5)));
  y = f.select(f.compare(Is::OLT, x, -17.5), f.constant(-1), f.mul(y, 2));
  y = f.select(f.compare(Is::UGT, x, highestExponent), f.mul(x, infinity), y);
  // Half of the least numbers is 0.
  return f.select(f.compare(Is::OLT, f.abs(x), 0x1p-30), x, y);
}

/// e such that x 2^-e is from 2/3 to 4/3: in an f32's exponent bits, and as a number.
std::pair<Value, Value> exponentOf(Floats f, Value x) {
  Value bits = f.subBits(f.bitsOf(x), f.bits(0x3f2aaaab));
  bits = arith::AndIOp::create(f.builder, f.loc, bits, f.bits(int32_t(0xff800000)));
  Value number = arith::SIToFPOp::create(f.builder, f.loc, f.type, bits);
  return {bits, f.mul(number, 0x1p-23)};
}

/// log(1 + m) + n log(2) for m from -1/3 to 1/3: the polynomial of N. Juffa.
Value logarithmOf(Floats f, Value m, Value n) {
  Value square = f.mul(m, m);
  Value even = f.polynomial(square, {-0.130310059, -0.121484190, -0.166846052, -0.249996200});
  Value odd = f.polynomial(square, {0.140869141, 0.139814854, 0.200120345});
  Value p = f.fma(odd, m, even);
  p = f.fma(p, m, f.constant(0.333331972));
  p = f.fma(p, m, f.constant(-0.5));
  return f.fma(n, std::numbers::ln2, f.fma(p, square, m));
}

/// What a logarithm of x is where `result` is not: of 0, of negative numbers, infinity and NaN.
Value whereDefined(Floats f, Value x, Value result) {
  Value others = f.select(f.compare(Is::OLT, x, 0), f.constant(nan), f.mul(x, infinity));
  Value isZero = f.compare(Is::OLT, f.abs(x), 0x1p-126);
  others = f.select(isZero, f.constant(-infinity), others);
  Value defined = f.both(f.compare(Is::OGE, x, 0x1p-126), f.compare(Is::OLT, x, infinity));
  return f.select(defined, result, others);
}

Value logarithm(Floats f, math::LogOp op) {
  Value x = op.getOperand();
  auto [bits, n] = exponentOf(f, x);
  Value m = f.add(f.ofBits(f.subBits(f.bitsOf(x), bits)), -1);
  return whereDefined(f, x, logarithmOf(f, m, n));
}

/// log(1 + x): 1 + x is rounded to find its exponent alone.
Value logarithmOfOneAnd(Floats f, math::Log1pOp op) {
  Value x = op.getOperand(), sum = f.add(x, 1);
  auto [bits, n] = exponentOf(f, sum);
  Value scaled = f.ofBits(f.subBits(f.bitsOf(x), bits));
  Value four = f.ofBits(f.subBits(f.bits(0x40800000), bits));
  Value m = f.add(scaled, f.fma(four, 0.25, f.constant(-1)));
  return whereDefined(f, sum, logarithmOf(f, m, n));
}

/// Near 0 the polynomial of Cephes (S. Moshier), elsewhere 1 - 2 e / (1 + e) of e = exp(-2 |x|).
Value tangent(Floats f, math::TanhOp op) {
  Value x = op.getOperand(), magnitude = f.abs(x), square = f.mul(x, x);
  Value p = f.polynomial(square, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                                  1.33314422036e-1, -3.33332819422e-1});
  Value near = f.fma(f.mul(p, square), x, x);
  Value e = math::ExpOp::create(f.builder, f.loc, f.mul(magnitude, -2));
  Value far = f.sub(f.constant(1), f.div(f.add(e, e), f.add(e, 1)));
  return f.select(f.compare(Is::OLT, magnitude, 0.625), near, f.withSign(far, x));
}

/// Near 0 a polynomial, elsewhere 1 - exp(p(|x|)): both of N. Juffa.
Value errorFunction(Floats f, math::ErfOp op) {
  Value x = op.getOperand(), magnitude = f.abs(x), square = f.mul(x, x);
  Value low = f.polynomial(magnitude, {-3.88396438e-3, 2.42546219e-2});
  Value p = f.polynomial(magnitude, {-1.72853470e-5, 3.83197126e-4});
  p = f.fma(p, square, low);
  for (double coefficient : {-1.06777877e-1, -6.34846687e-1, -1.28717512e-1})
    p = f.fma(p, magnitude, f.constant(coefficient));
  p = f.fma(p, magnitude, f.neg(magnitude));
  Value far = f.sub(f.constant(1), math::ExpOp::create(f.builder, f.loc, p));
  Value near = f.polynomial(square, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
                                     -3.76125336e-1, 1.28379166e-1});
  near = f.fma(near, x, x);
  return f.select(f.compare(Is::OGT, magnitude, 0.921875), f.withSign(far, x), near);
}

/// 1 / sqrt(x); the processor's estimate is NaN at 0 and at infinity.
Value reciprocalRoot(Floats f, math::RsqrtOp op) {
  Value root = math::SqrtOp::create(f.builder, f.loc, op.getOperand());
  return arith::DivFOp::create(f.builder, f.loc, f.constant(1), root);
}

/// The number that a value is everywhere, where it is known.
std::optional<double> knownNumber(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(constant))
    constant = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(constant);
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

/// x ^ n by squaring, for a small whole n.
Value wholePower(Floats f, Value x, int n) {
  Value result, square = x;
  for (unsigned bits = std::abs(n); bits; bits >>= 1) {
    if (bits & 1)
      result = result ? f.mul(result, square) : square;
    if (bits > 1)
      square = f.mul(square, square);
  }
  if (!result)
    return f.constant(1);
  return n < 0 ? arith::DivFOp::create(f.builder, f.loc, f.constant(1), result).getResult()
               : result;
}

/// e^(b log|a|). The logarithm has two parts, or its rounding would be multiplied by b.
Value powerOfMagnitude(Floats f, Value a, Value b) {
  auto [bits, n] = exponentOf(f, a);
  Value scaled = f.ofBits(f.subBits(f.bitsOf(a), bits));
  // log(1 + m) = 2 atanh(m / (2 + m)) = 2 q + 2 q^3 / 3 + ..
  Value m = f.add(scaled, -1), divisor = f.add(scaled, 1), q = f.div(m, divisor);
  Value lostOfDivisor = f.sub(scaled, f.add(divisor, -1));
  Value rest = f.fma(f.neg(q), divisor, m);
  rest = f.div(f.fma(f.neg(q), lostOfDivisor, rest), divisor);
  Value square = f.mul(q, q), twice = f.add(q, q);
  Value series = f.polynomial(square, {1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3});
  Value low = f.fma(f.mul(twice, square), series, f.add(rest, rest));
  Value whole = f.mul(n, 0.693359375), high = f.add(whole, twice);
  low = f.add(low, f.sub(twice, f.sub(high, whole)));
  low = f.fma(n, std::numbers::ln2 - 0.693359375, low);
  Value sum = f.add(high, low);
  low = f.sub(low, f.sub(sum, high));
  high = sum;
  Value product = f.mul(b, high);
  Value lost = f.fma(b, low, f.fma(b, high, f.neg(product)));
  Value result = math::ExpOp::create(f.builder, f.loc, product);
  Value inRange =
      f.both(f.compare(Is::OLT, f.abs(product), 128), f.compare(Is::OLT, result, infinity));
  return f.select(inRange, f.fma(result, lost, result), result);
}

/// What IEEE 754 says of the rest: anything to the 0 and 1 to anything are 1; a negative base has
/// powers with whole exponents only, unless it is infinite.
Value power(Floats f, math::PowFOp op) {
  Value a = op.getLhs(), b = op.getRhs();
  if (std::optional<double> n = knownNumber(b); n && *n == std::floor(*n) && std::fabs(*n) <= 8)
    return wholePower(f, a, int(*n));
  Value magnitude = f.abs(a);
  // 0 and infinity have no exponent to be taken off.
  Value ordinary =
      f.both(f.compare(Is::OGE, magnitude, 0x1p-126), f.compare(Is::OLT, magnitude, infinity));
  Value logarithm =
      f.select(f.compare(Is::OLT, magnitude, 1), f.constant(-infinity), f.mul(magnitude, infinity));
  Value extreme = math::ExpOp::create(f.builder, f.loc, f.mul(b, logarithm));
  Value result = f.select(ordinary, powerOfMagnitude(f, magnitude, b), extreme);
  Value isOne = f.either(f.compare(Is::OEQ, b, 0), f.compare(Is::OEQ, a, 1));
  Value isUnit = f.both(f.compare(Is::OEQ, a, -1), f.compare(Is::ORD, b, b));
  result = f.select(f.either(isOne, isUnit), f.constant(1), result);
  Value whole = f.isWhole(b), even = f.isWhole(f.mul(b, f.constant(0.5)));
  Value isOdd =
      f.both(whole, arith::XOrIOp::create(f.builder, f.loc, even, f.compare(Is::OEQ, b, b)));
  Value ofNegative = f.select(isOdd, f.neg(result), result);
  Value none =
      f.select(f.either(whole, f.compare(Is::OEQ, a, -infinity)), ofNegative, f.constant(nan));
  return f.select(f.compare(Is::OLT, a, 0), none, result);
}

/// The sine of an angle from about -pi / 2 to pi / 2. Beyond 2^23 half turns, whose halves no f32
/// holds, it is some number from -1 to 1.
Value sineWithin(Floats f, Value angle) {
  Value square = f.mul(angle, angle);
  // A minimax fit, rounded so that the sine of pi / 2 is 1.
  Value p =
      f.polynomial(square, {-2.388876296777198e-08, 2.7525375116965733e-06, -0.0001984086848096922,
                            0.008333333767950535, -0.1666666716337204});
  Value sine = f.fma(f.mul(p, square), angle, angle);
  Value one = f.constant(1);
  // NaN stays.
  sine = f.select(f.compare(Is::OGT, sine, one), one, sine);
  return f.select(f.compare(Is::OLT, sine, -1), f.constant(-1), sine);
}

/// sin(x) = (-1)^n sin(x - n pi), and cos(x) the same of n + 1/2, negated. Pi has three parts, each
/// product of which is added unrounded (Cody and Waite, "Software Manual for the Elementary
/// Functions", 1980): MLIR's reduction has one, and loses a digit of the result with each digit
/// before the point.
Value sine(Floats f, Value angle, bool ofComplement) {
  constexpr double pi = std::numbers::pi;
  constexpr float first = float(pi), second = float(pi - first),
                  // What a double of pi lacks is 1.2246467991473532e-16.
      third = float(pi - first - second + 1.2246467991473532e-16);
  Value turns = f.mul(angle, f.constant(1 / pi));
  if (ofComplement)
    turns = f.add(turns, f.constant(-0.5));
  Value whole = math::RoundEvenOp::create(f.builder, f.loc, turns);
  Value taken = ofComplement ? f.add(whole, f.constant(0.5)) : whole;
  for (float part : {first, second, third})
    angle = f.fma(taken, -part, angle);
  // Of a large angle the rounded turns may be up to a third of one off, so that more than a quarter
  // is left.
  Value more = math::RoundEvenOp::create(f.builder, f.loc, f.mul(angle, f.constant(1 / pi)));
  for (float part : {first, second})
    angle = f.fma(more, -part, angle);
  whole = f.add(whole, more);
  Value result = sineWithin(f, angle);
  Value negated = f.neg(result);
  Value even = f.isWhole(f.mul(whole, f.constant(0.5)));
  return ofComplement ? f.select(even, negated, result) : f.select(even, result, negated);
}

template <typename Op, typename Make> void replaceAll(ModuleOp module, Make make) {
  module.walk([&](Op op) {
    OpBuilder builder(op);
    Value made = make(Floats{builder, op.getLoc(), op.getType()}, op);
    op.getResult().replaceAllUsesWith(made);
    op.erase();
  });
}

void replaceAngles(ModuleOp module) {
  // What replaces them has sines in it.
  SmallVector<Operation *> angles;
  module.walk([&](Operation *op) {
    if (isa<math::SinOp, math::CosOp>(op))
      angles.push_back(op);
  });
  for (Operation *op : angles) {
    OpBuilder builder(op);
    Floats f{builder, op->getLoc(), op->getResult(0).getType()};
    op->getResult(0).replaceAllUsesWith(sine(f, op->getOperand(0), isa<math::CosOp>(op)));
    op->erase();
  }
}

} // namespace

void reducePowers(ModuleOp module) {
  replaceAll<math::RsqrtOp>(module, reciprocalRoot);
  replaceAll<math::PowFOp>(module, power);
}

void approximateMath(ModuleOp module, Exponential exponentials) {
  module.walk([](arith::DivFOp op) { op.setFastmath(arith::FastMathFlags::none); });
  reducePowers(module);
  replaceAngles(module);
  replaceAll<math::TanhOp>(module, tangent);
  replaceAll<math::ErfOp>(module, errorFunction);
  replaceAll<math::ExpM1Op>(module,
                            [](Floats f, math::ExpM1Op op) { return exponentialLessOne(f, op); });
  replaceAll<math::Log1pOp>(module, logarithmOfOneAnd);
  replaceAll<math::LogOp>(module, logarithm);
  if (exponentials == Exponential::byPolynomial)
    replaceAll<math::ExpOp>(module, exponential);
}

} // namespace weir
