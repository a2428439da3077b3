//===- Gradients.cpp - Gradients of elementwise ops ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// g is the result's cotangent, y the result, x or a and b the operands. Formulas use y where they
// can: it is often kept, and recomputing a transcendental function costs more than reading it.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/interfaces/GradientFormula.h"
#include "ir/weir/structure/Structure.h"
#include <cmath>
#include <numbers>
#include <optional>

namespace weir {
namespace {

using mlir::ArrayRef;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::SmallVectorImpl;
using mlir::Value;

LogicalResult none(mlir::Operation *op, SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(op->getNumOperands(), Value());
  return mlir::success();
}

LogicalResult give(SmallVectorImpl<Value> &operandCotangents, std::initializer_list<Value> values) {
  operandCotangents.assign(values);
  return mlir::success();
}

/// The number that a value is everywhere, if that is known.
std::optional<double> splat(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return splat(broadcast.getInput());
  if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto number = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue()))
      return number.getValueAsDouble();
  return std::nullopt;
}

/// The gradients of max and min: a's where a wins, b's elsewhere.
LogicalResult choose(Formula t, Predicate aWins, Value a, Value b, Value g,
                     SmallVectorImpl<Value> &operandCotangents) {
  Term won = compare(aWins, t(a), t(b)), zero = t(g).number(0);
  return give(operandCotangents, {select(won, t(g), zero), select(won, zero, t(g))});
}

} // namespace

LogicalResult NegOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {-t(cotangents[0])});
}

LogicalResult AbsOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {t(cotangents[0]) * sign(t(getInput()))});
}

LogicalResult ExpOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {t(cotangents[0]) * t(getResult())});
}

LogicalResult LogOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {t(cotangents[0]) / t(getInput())});
}

// Not y + 1, which is 0 where e^x is small.
LogicalResult Expm1Op::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                           SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {t(cotangents[0]) * exp(t(getInput()))});
}

LogicalResult Log1pOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                           SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {t(cotangents[0]) / (t(getInput()) + 1.0)});
}

LogicalResult SqrtOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                          SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {0.5 * t(cotangents[0]) / t(getResult())});
}

LogicalResult RsqrtOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                           SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term y = t(getResult());
  return give(operandCotangents, {-0.5 * t(cotangents[0]) * (y * y * y)});
}

LogicalResult TanhOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                          SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term y = t(getResult());
  return give(operandCotangents, {t(cotangents[0]) * (1.0 - y * y)});
}

// 1 - y has no digits where y is close to 1, and silu's gradient multiplies it with x.
LogicalResult SigmoidOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                             SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term y = t(getResult()), rest = sigmoid(-t(getInput()));
  return give(operandCotangents, {t(cotangents[0]) * (y * rest)});
}

LogicalResult NormalCdfOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term x = t(getInput());
  double density = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return give(operandCotangents, {t(cotangents[0]) * (density * exp(-0.5 * (x * x)))});
}

LogicalResult SinOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {t(cotangents[0]) * cos(t(getInput()))});
}

LogicalResult CosOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {-(t(cotangents[0]) * sin(t(getInput())))});
}

LogicalResult ErfOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term x = t(getInput());
  return give(operandCotangents,
              {t(cotangents[0]) * (2 * std::numbers::inv_sqrtpi * exp(-(x * x)))});
}

LogicalResult SignOp::vjp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &operandCotangents) {
  return none(*this, operandCotangents);
}

LogicalResult FloorOp::vjp(OpBuilder &, ArrayRef<Value>,
                           SmallVectorImpl<Value> &operandCotangents) {
  return none(*this, operandCotangents);
}

LogicalResult PowerOfTwoOp::vjp(OpBuilder &, ArrayRef<Value>,
                                SmallVectorImpl<Value> &operandCotangents) {
  return none(*this, operandCotangents);
}

LogicalResult StopGradientOp::vjp(OpBuilder &, ArrayRef<Value>,
                                  SmallVectorImpl<Value> &operandCotangents) {
  return none(*this, operandCotangents);
}

LogicalResult AddOp::vjp(OpBuilder &, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  return give(operandCotangents, {cotangents[0], cotangents[0]});
}

LogicalResult SubOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  return give(operandCotangents, {cotangents[0], -t(cotangents[0])});
}

LogicalResult MulOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term g = t(cotangents[0]);
  return give(operandCotangents, {g * t(getRhs()), g * t(getLhs())});
}

LogicalResult DivOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term a = t(cotangents[0]) / t(getRhs());
  return give(operandCotangents, {a, -(a * t(getResult()))});
}

LogicalResult MaxOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  return choose(Formula(builder, *this), Predicate::ge, getLhs(), getRhs(), cotangents[0],
                operandCotangents);
}

LogicalResult MinOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  return choose(Formula(builder, *this), Predicate::le, getLhs(), getRhs(), cotangents[0],
                operandCotangents);
}

// An exponent of 0 has gradient 0 even where the base is 0, and so has an exponent over a base that
// has no logarithm.
LogicalResult PowOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                         SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term g = t(cotangents[0]), a = t(getLhs()), b = t(getRhs()), y = t(getResult());
  if (std::optional<double> n = splat(getRhs())) {
    if (*n == 0)
      return none(*this, operandCotangents);
    Term slope = *n == 1 ? a.number(1) : *n * (*n == 2 ? a : pow(a, a.number(*n - 1)));
    return give(operandCotangents, {g * slope, Value()});
  }
  Term zero = g.number(0);
  Term base = select(compare(Predicate::eq, b, zero), zero, g * b * pow(a, b - 1.0));
  Term exponent = select(compare(Predicate::gt, a, zero), g * y * log(a), zero);
  return give(operandCotangents, {base, exponent});
}

LogicalResult SelectOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Term g = t(cotangents[0]), zero = g.number(0), condition = t(getCondition());
  return give(operandCotangents, {Value(), select(condition, g, zero), select(condition, zero, g)});
}

Value SelectOp::whereChosen(OpBuilder &builder, unsigned operand) {
  if (operand == 0)
    return {};
  return operand == 1 ? Value(getCondition())
                      : NotOp::create(builder, getLoc(), getCondition()).getResult();
}

LogicalResult CastOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                          SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  if (!llvm::isa<mlir::FloatType>(tensorType(getInput()).getElementType()))
    return none(*this, operandCotangents);
  if (cotangentType(getInput()) == cotangents[0].getType())
    return give(operandCotangents, {cotangents[0]});
  return give(operandCotangents, {t.build<CastOp>(cotangentType(getInput()), cotangents[0])});
}

} // namespace weir
