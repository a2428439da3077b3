//===- Math.cpp - Elementary functions without a library ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's polynomials cover exp, log, tanh, erf, sin and cos close to 0; what is here brings the
// rest of the arguments to them. Everything works on scalars and on vectors of f32.
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

  Value constant(double value) {
    TypedAttr attribute = builder.getF32FloatAttr(float(value));
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
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
  Value isWhole(Value x) {
    return compare(arith::CmpFPredicate::OEQ, math::FloorOp::create(builder, loc, x), x);
  }
};

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

/// e^(b log|a|), and what IEEE 754 says of the rest: anything to the 0 and 1 to anything are 1; a
/// negative base has powers with whole exponents only, unless it is infinite.
Value power(Floats f, math::PowFOp op) {
  using Is = arith::CmpFPredicate;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value a = op.getLhs(), b = op.getRhs();
  if (std::optional<double> n = knownNumber(b); n && *n == std::floor(*n) && std::fabs(*n) <= 8)
    return wholePower(f, a, int(*n));
  Value magnitude = math::AbsFOp::create(f.builder, f.loc, a);
  Value logarithm = math::LogOp::create(f.builder, f.loc, magnitude);
  Value result = math::ExpOp::create(f.builder, f.loc, f.mul(b, logarithm));
  Value isOne = f.either(f.compare(Is::OEQ, b, 0), f.compare(Is::OEQ, a, 1));
  Value isUnit = f.both(f.compare(Is::OEQ, a, -1), f.compare(Is::ORD, b, b));
  result = f.select(f.either(isOne, isUnit), f.constant(1), result);
  Value whole = f.isWhole(b), even = f.isWhole(f.mul(b, f.constant(0.5)));
  Value negated = arith::NegFOp::create(f.builder, f.loc, result);
  Value isOdd =
      f.both(whole, arith::XOrIOp::create(f.builder, f.loc, even, f.compare(Is::OEQ, b, b)));
  Value ofNegative = f.select(isOdd, negated, result);
  Value none = f.select(f.either(whole, f.compare(Is::OEQ, a, -infinity)), ofNegative,
                        f.constant(std::numeric_limits<double>::quiet_NaN()));
  return f.select(f.compare(Is::OLT, a, 0), none, result);
}

/// The sine of an angle from about -pi / 2 to pi / 2. MLIR's of a small negative one is a cosine
/// near a quarter turn, without a correct digit. Beyond 2^23 half turns, whose halves no f32 holds,
/// it is some number from -1 to 1.
Value sineWithin(Floats f, Value angle) {
  Value magnitude = math::AbsFOp::create(f.builder, f.loc, angle);
  Value turn = f.constant(2 * std::numbers::pi);
  magnitude = arith::MinimumFOp::create(f.builder, f.loc, magnitude, turn);
  Value sine = math::SinOp::create(f.builder, f.loc, magnitude);
  return f.mul(sine, math::CopySignOp::create(f.builder, f.loc, f.constant(1), angle));
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
    angle = math::FmaOp::create(f.builder, f.loc, taken, f.constant(-part), angle);
  Value result = sineWithin(f, angle);
  Value negated = arith::NegFOp::create(f.builder, f.loc, result);
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

void approximateMath(ModuleOp module) {
  reducePowers(module);
  replaceAngles(module);

  RewritePatternSet approximations(module.getContext());
  populateMathPolynomialApproximationPatterns(approximations, [](StringRef name) {
    return llvm::is_contained({"math.exp", "math.log", "math.log1p", "math.expm1", "math.tanh",
                               "math.erf", "math.sin", "math.cos", "exp", "log", "log1p", "expm1",
                               "tanh", "erf", "sin", "cos"},
                              name);
  });
  (void)applyPatternsGreedily(module, std::move(approximations));
}

} // namespace weir
