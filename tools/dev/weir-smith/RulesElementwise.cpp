//===- RulesElementwise.cpp - Elementwise ops -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/structure/Structure.h"
#include "tools/dev/weir-smith/Rules.h"
#include <cmath>

using namespace mlir;

namespace weir::smith {
namespace {

template <class Op> void unary(Scope &s) { s.give(s.map<Op>(s.any(Element::f32))); }

template <class Op> void ofNumbers(Scope &s) { s.give(s.map<Op>(s.number())); }

template <class Op> void ofPositive(Scope &s) {
  s.give(s.map<Op>(s.positive(s.any(Element::f32))));
}

template <class Op> void exponential(Scope &s) {
  s.give(s.map<Op>(s.scaled(s.any(Element::f32), 0.5)));
}

void floorOf(Scope &s) { s.give(s.map<FloorOp>(s.scaled(s.any(Element::f32), 3, 0.37))); }

void powerOf(Scope &s) { s.give(s.map<PowerOfTwoOp>(s.awayFromZero(s.any(Element::f32)))); }

void negation(Scope &s) { s.give(s.map<NotOp>(s.any(Element::b8))); }

template <class Op> void binary(Scope &s) {
  Value a = s.number();
  s.give(s.map<Op>(a, s.like(a)));
}

template <class Op> void logical(Scope &s) {
  Value a = s.any(Element::b8);
  s.give(s.map<Op>(a, s.like(a)));
}

void division(Scope &s) {
  Value a = s.number(), b = s.like(a);
  // Whole numbers may be divided by zero.
  s.give(s.map<DivOp>(a, elementOf(a) == Element::f32 ? s.awayFromZero(b) : b));
}

void remainder(Scope &s) {
  Value a = s.any(Element::i32);
  s.give(s.map<RemOp>(a, s.like(a)));
}

void power(Scope &s) {
  Value a = s.any(Element::f32);
  if (s.random().chance(0.6)) {
    double n = s.random().one({0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1.5});
    Value base = n == std::trunc(n) && n > 0 ? a : s.positive(a);
    s.give(s.map<PowOp>(base, s.constant(a.getType(), n)));
  } else {
    Value base = s.positive(a);
    s.give(s.map<PowOp>(base, s.map<TanhOp>(s.like(a))));
  }
}

void comparison(Scope &s) {
  Value a = s.number();
  Value b = s.random().chance(0.4) ? s.constant(a.getType(), s.random().one({0.0, 1.0, 0.25}))
                                   : s.like(a);
  s.give(s.make<CompareOp>(s.random().one({Predicate::eq, Predicate::ne, Predicate::lt,
                                           Predicate::le, Predicate::gt, Predicate::ge}),
                           a, b));
}

void isFinite(Scope &s) {
  Value a = s.any(Element::f32);
  s.give(s.make<IsFiniteOp>(s.type(shapeOf(a), Element::b8), a));
}

void selection(Scope &s) {
  Value a = s.any(s.random().one(
      {Element::f32, Element::f32, Element::f32, Element::i32, Element::u8, Element::b8}));
  Value b = s.like(a), condition = s.like(s.type(shapeOf(a), Element::b8));
  s.give(s.make<SelectOp>(a.getType(), condition, a, b));
}

void roundAtRandom(Scope &s) {
  Value a = s.any(Element::f32);
  s.give(s.make<RoundAtRandomOp>(a.getType(), a, s.like(a)));
}

/// A value of low precision, moved as it is or not, is a number to compute with again.
void throughLow(Scope &s) {
  Value a = s.any(Element::f32);
  Value low = s.make<CastOp>(s.type(shapeOf(a), lowElement(s.random())), a);
  if (auto rank = shapeOf(a).size(); rank == 2 && s.random().chance(0.4))
    low = s.make<TransposeOp>(low, ArrayRef<int64_t>{1, 0});
  s.give(s.make<CastOp>(s.type(shapeOf(low)), low));
}

void cast(Scope &s) {
  if (s.random().chance(0.3))
    return throughLow(s);
  Element from =
      s.random().one({Element::f32, Element::f32, Element::i32, Element::u8, Element::b8});
  Element to = s.random().one({Element::f32, Element::f32, Element::i32, Element::u8, Element::b8});
  Value a = s.any(from);
  if (to == Element::u8 && from != Element::b8)
    a = from == Element::u8 ? a : s.map<AbsOp>(a);
  if (from == Element::f32 && to == Element::i32)
    a = s.scaled(a, 5, 0.21);
  s.give(s.make<CastOp>(s.type(shapeOf(a), to), a));
}

} // namespace

ArrayRef<Rule> elementwiseRules() {
  static constexpr Rule all[] = {
      {"neg", ofNumbers<NegOp>},
      {"abs", ofNumbers<AbsOp>},
      {"exp", exponential<ExpOp>},
      {"expm1", exponential<Expm1Op>},
      {"log", ofPositive<LogOp>},
      {"log1p", ofPositive<Log1pOp>},
      {"sqrt", ofPositive<SqrtOp>},
      {"rsqrt", ofPositive<RsqrtOp>},
      {"tanh", unary<TanhOp>},
      {"sigmoid", unary<SigmoidOp>},
      {"normal_cdf", unary<NormalCdfOp>},
      {"sin", unary<SinOp>},
      {"cos", unary<CosOp>},
      {"erf", unary<ErfOp>},
      {"sign", unary<SignOp>},
      {"floor", floorOf},
      {"power_of_two", powerOf},
      {"stop_gradient", unary<StopGradientOp>},
      {"not", negation},
      {"add", binary<AddOp>},
      {"sub", binary<SubOp>},
      {"mul", binary<MulOp>},
      {"div", division},
      {"rem", remainder},
      {"max", binary<MaxOp>},
      {"min", binary<MinOp>},
      {"pow", power},
      {"and", logical<AndOp>},
      {"or", logical<OrOp>},
      {"compare", comparison},
      {"is_finite", isFinite},
      {"select", selection},
      {"cast", cast},
      {"round_at_random", roundAtRandom},
  };
  return all;
}

} // namespace weir::smith
