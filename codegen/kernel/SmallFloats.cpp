//===- SmallFloats.cpp - Conversions of floats of low precision -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM would call a function for each lane of bf16 and has no f8 at all. Behind vectorizing, so
// that what is vectorized is one op a conversion. f16 may stay: every CPU level has its
// instructions.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/Expand.h"
#include "ir/weir/structure/Structure.h"

#include "ir/weir/ElementTypes.h"

using namespace mlir;

namespace weir {
namespace {

/// f32's own format.
constexpr int wideSignificand = 23, wideBias = 127;

/// Builds arithmetic on i32 scalars or vectors, and f32 ones with their bits.
struct Bits {
  OpBuilder &builder;
  Location loc;
  Type shaped; ///< scalar or vector: its shape is that of all values

  Type typeOf(Type scalar) const {
    auto vector = dyn_cast<VectorType>(shaped);
    return vector ? Type(vector.clone(scalar)) : scalar;
  }
  Type i32() const { return typeOf(builder.getI32Type()); }
  Type f32() const { return typeOf(builder.getF32Type()); }

  Value constant(int64_t number) const {
    return arith::ConstantOp::create(
        builder, loc,
        isa<VectorType>(shaped)
            ? TypedAttr(
                  DenseElementsAttr::get(cast<VectorType>(i32()), APInt(32, uint32_t(number))))
            : TypedAttr(builder.getIntegerAttr(i32(), APInt(32, uint32_t(number)))));
  }
  Value bits(Value real) const { return arith::BitcastOp::create(builder, loc, i32(), real); }
  Value real(Value bits) const { return arith::BitcastOp::create(builder, loc, f32(), bits); }
  Value add(Value a, Value b) const { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) const { return arith::SubIOp::create(builder, loc, a, b); }
  Value both(Value a, int64_t mask) const {
    return arith::AndIOp::create(builder, loc, a, constant(mask));
  }
  Value either(Value a, Value b) const { return arith::OrIOp::create(builder, loc, a, b); }
  Value left(Value a, int by) const { return arith::ShLIOp::create(builder, loc, a, constant(by)); }
  Value right(Value a, int by) const {
    return arith::ShRUIOp::create(builder, loc, a, constant(by));
  }
  /// Of numbers that are not negative as i32.
  Value select(Value a, arith::CmpIPredicate predicate, int64_t b, Value onTrue,
               Value onFalse) const {
    Value condition = arith::CmpIOp::create(builder, loc, predicate, a, constant(b));
    return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  }
};

/// A format, in whole numbers. An `infinite` one has infinity and NaN at its highest exponent, the
/// others NaN alone, as all ones.
struct Format {
  int width, significand, bias;
  bool infinite;

  static Format of(Type type) {
    const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
    return {int(APFloat::semanticsSizeInBits(semantics)),
            int(APFloat::semanticsPrecision(semantics)) - 1,
            1 - APFloat::semanticsMinExponent(semantics), APFloat::semanticsHasInf(semantics)};
  }
  bool hasOwnExponents() const { return bias != wideBias; }
  int narrower() const { return wideSignificand - significand; }
  int64_t sign() const { return int64_t(1) << (width - 1); }
  /// Where what is not finite begins.
  int64_t over() const { return infinite ? sign() - (int64_t(1) << significand) : sign() - 1; }
  int64_t nan() const { return infinite ? over() | (int64_t(1) << (significand - 1)) : over(); }
  /// The bits of the least f32 that is rounded to none of the finite numbers. An infinite format's
  /// largest is odd, so that what is in the middle above it goes up; the others' is even.
  int64_t tooLarge() const {
    int64_t exponents = int64_t(wideBias - bias) << wideSignificand;
    int64_t largest = ((over() - 1) << narrower()) + exponents;
    return largest + (int64_t(1) << (narrower() - 1)) + (infinite ? 0 : 1);
  }
  /// The bits of the f32 that is the least normal number.
  int64_t leastNormal() const { return int64_t(1 - bias + wideBias) << wideSignificand; }
};

/// To nearest, ties to even. Normal numbers are rounded as integers, which carries into the
/// exponent; subnormal ones by adding a number whose last bit is theirs.
Value narrowed(Bits b, Value real, Format format) {
  Value whole = b.bits(real);
  int shift = format.narrower();
  auto rounded = [&](Value bits) {
    Value odd = b.both(b.right(bits, shift), 1);
    return b.right(b.add(bits, b.add(odd, b.constant((int64_t(1) << (shift - 1)) - 1))), shift);
  };
  Value sign = b.both(b.right(whole, 32 - format.width), format.sign());
  if (!format.hasOwnExponents()) {
    // The sign stays where it is: only a NaN could carry into it.
    Value isNan = arith::CmpFOp::create(b.builder, b.loc, arith::CmpFPredicate::UNO, real, real);
    return arith::SelectOp::create(b.builder, b.loc, isNan,
                                   b.either(sign, b.constant(format.nan())), rounded(whole));
  }
  Value magnitude = b.both(whole, 0x7fffffff);
  int64_t exponents = int64_t(wideBias - format.bias) << format.significand;
  Value result = b.sub(rounded(magnitude), b.constant(exponents));
  int64_t last = int64_t(1 - format.bias + wideBias + shift) << wideSignificand;
  Value sum = arith::AddFOp::create(b.builder, b.loc, b.real(magnitude), b.real(b.constant(last)));
  Value small = b.sub(b.bits(sum), b.constant(last));
  result = b.select(magnitude, arith::CmpIPredicate::ult, format.leastNormal(), small, result);
  result =
      b.select(result, arith::CmpIPredicate::ugt, format.over(), b.constant(format.over()), result);
  int64_t infinity = int64_t(0xff) << wideSignificand;
  result =
      b.select(magnitude, arith::CmpIPredicate::ugt, infinity, b.constant(format.nan()), result);
  return b.either(result, sign);
}

/// Exact. `whole` has zeros above the format's bits.
Value widened(Bits b, Value whole, Format format) {
  if (!format.hasOwnExponents())
    return b.real(b.left(whole, format.narrower()));
  Value magnitude = b.both(whole, format.sign() - 1);
  Value sign = b.left(b.both(whole, format.sign()), 32 - format.width);
  int shift = format.narrower();
  int exponents = wideBias - format.bias;
  Value result = b.add(b.left(magnitude, shift), b.constant(int64_t(exponents) << wideSignificand));
  // Subnormal numbers have no leading one: it is taken away from what has one.
  int64_t one = format.leastNormal();
  Value spare = b.add(b.left(magnitude, shift), b.constant(one));
  Value small =
      b.bits(arith::SubFOp::create(b.builder, b.loc, b.real(spare), b.real(b.constant(one))));
  result = b.select(magnitude, arith::CmpIPredicate::ult, int64_t(1) << format.significand, small,
                    result);
  int64_t infinity = int64_t(0xff) << wideSignificand;
  if (format.infinite) {
    Value special = b.either(b.left(magnitude, shift), b.constant(infinity));
    result = b.select(magnitude, arith::CmpIPredicate::uge, format.over(), special, result);
  } else {
    result = b.select(magnitude, arith::CmpIPredicate::eq, format.nan(),
                      b.constant(infinity | (infinity >> 1)), result);
  }
  return b.real(b.either(result, sign));
}

/// Both at once. What is normal is rounded as what is subnormal is above, by a number that goes
/// with its exponent.
Value narrowedAndWidened(Bits b, Value real, Format format) {
  Value whole = b.bits(real), magnitude = b.both(whole, 0x7fffffff);
  int64_t infinity = int64_t(0xff) << wideSignificand, nan = infinity | (infinity >> 1);
  Value exponent = arith::MaxSIOp::create(b.builder, b.loc, b.both(whole, infinity),
                                          b.constant(format.leastNormal()));
  Value last = b.real(b.add(exponent, b.constant(int64_t(format.narrower()) << wideSignificand)));
  Value sum = arith::AddFOp::create(b.builder, b.loc, b.real(magnitude), last);
  Value result = b.bits(arith::SubFOp::create(b.builder, b.loc, sum, last));
  result = b.select(magnitude, arith::CmpIPredicate::uge, format.tooLarge(),
                    b.constant(format.infinite ? infinity : nan), result);
  if (format.infinite)
    result = b.select(magnitude, arith::CmpIPredicate::ugt, infinity, b.constant(nan), result);
  return b.real(b.either(result, b.both(whole, int64_t(1) << 31)));
}

} // namespace

/// What is rounded and is wide again in one kernel has no need of its bits in between.
static void roundInPlace(arith::ExtFOp widening, bool halves) {
  Value low = widening.getIn();
  while (auto cast = low.getDefiningOp<arith::BitcastOp>())
    low = cast.getIn();
  auto narrowing = low.getDefiningOp<arith::TruncFOp>();
  Type element = getElementTypeOrSelf(low);
  if (!narrowing || low.getType() != widening.getIn().getType() || !isLow(element) ||
      (element.isF16() && !halves) || !Format::of(element).hasOwnExponents() ||
      !getElementTypeOrSelf(widening.getType()).isF32())
    return;
  OpBuilder builder(widening);
  Bits b{builder, widening.getLoc(), widening.getType()};
  widening.replaceAllUsesWith(narrowedAndWidened(b, narrowing.getIn(), Format::of(element)));
  widening.erase();
}

/// What goes to a float of low precision goes by way of f32, from whole numbers and from other such
/// floats too, as folding leaves it.
static void narrowFromWide(Operation *op) {
  if (!isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return;
  Type low = op->getResult(0).getType();
  Value from = op->getOperand(0);
  if (!isLow(getElementTypeOrSelf(low)) || getElementTypeOrSelf(from).isF32())
    return;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Type wide = builder.getF32Type();
  if (auto vector = dyn_cast<VectorType>(low))
    wide = vector.clone(wide);
  Value real =
      isa<arith::TruncFOp>(op)
          ? arith::ExtFOp::create(builder, op->getLoc(), wide, from).getResult()
          : builder.create(op->getLoc(), op->getName().getIdentifier(), from, wide)->getResult(0);
  op->replaceAllUsesWith(arith::TruncFOp::create(builder, op->getLoc(), low, real));
  op->erase();
}

void narrowByF32(ModuleOp module) { module.walk(narrowFromWide); }

void expandSmallFloats(ModuleOp module, bool halves) {
  narrowByF32(module);
  module.walk([&](arith::ExtFOp widening) { roundInPlace(widening, halves); });
  module.walk([&](Operation *op) {
    if (!isa<arith::TruncFOp, arith::ExtFOp>(op))
      return;
    bool narrows = isa<arith::TruncFOp>(op);
    Type low = narrows ? op->getResult(0).getType() : op->getOperand(0).getType();
    Type element = getElementTypeOrSelf(low);
    if (!isLow(element) || (element.isF16() && !halves))
      return;
    OpBuilder builder(op);
    Bits b{builder, op->getLoc(), low};
    Format format = Format::of(element);
    Type stored = b.typeOf(builder.getIntegerType(format.width));
    Value result;
    if (narrows) {
      Value whole = narrowed(b, op->getOperand(0), format);
      whole = arith::TruncIOp::create(builder, op->getLoc(), stored, whole);
      result = arith::BitcastOp::create(builder, op->getLoc(), low, whole);
    } else {
      Value whole = arith::BitcastOp::create(builder, op->getLoc(), stored, op->getOperand(0));
      whole = arith::ExtUIOp::create(builder, op->getLoc(), b.i32(), whole);
      result = widened(b, whole, format);
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  });
}

} // namespace weir
