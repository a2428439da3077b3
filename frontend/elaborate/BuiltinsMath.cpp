//===- BuiltinsMath.cpp - Elementwise builtins ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"

#include <cmath>
#include <numbers>

namespace weir::elab {

static Value outOfRange(BuiltinCall &call) {
  std::string text;
  for (const Value &value : call.values)
    text += (text.empty() ? "" : ", ") + std::to_string(*value.get<int64_t>());
  call.error(std::string(call.builtin.name) + "(" + text + ") does not fit into 64 bits");
  return {};
}

/// A function of one float, of numbers known now or of tensors.
template <typename Op, double (*onNumber)(double)> static Value floatFunction(BuiltinCall &call) {
  if (call.value(0).isNumber()) {
    double argument = call.value(0).number(), result = onNumber(argument);
    if (std::isfinite(result))
      return result;
    call.error(std::string(call.builtin.name) + "(" + describe(argument) +
               ") is not a finite number");
    return {};
  }
  const auto *tensor = call.value(0).get<Tensor>();
  if (!tensor || !tensor->isFloat())
    return call.wrong(0, "a float or a tensor of floats");
  return Tensor{Op::create(call.builder(), call.location(), tensor->value), tensor->dims};
}

static double rsqrtOf(double x) { return 1 / std::sqrt(x); }
static double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
static double normalCdfOf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
static double signOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
static double identity(double x) { return x; }

static Value absolute(BuiltinCall &call) {
  if (const auto *number = call.value(0).get<int64_t>()) {
    if (*number == INT64_MIN)
      return outOfRange(call);
    return *number < 0 ? -*number : *number;
  }
  if (const auto *number = call.value(0).get<double>())
    return std::fabs(*number);
  const auto *tensor = call.value(0).get<Tensor>();
  if (!tensor || !(tensor->isFloat() || tensor->isInt()))
    return call.wrong(0, "a number or a tensor of numbers");
  return Tensor{AbsOp::create(call.builder(), call.location(), tensor->value), tensor->dims};
}

template <typename Op, bool larger> static Value extreme(BuiltinCall &call) {
  const Value &a = call.value(0), &b = call.value(1);
  if (a.isNumber() && b.isNumber())
    return (a.number() > b.number()) == larger ? a : b;
  Tensor left, right;
  if (!call.elaborator.tensors.unify(a, b, std::string("`") + call.builtin.name + "`", call.range,
                                     left, right))
    return {};
  return Tensor{Op::create(call.builder(), call.location(), left.value, right.value), left.dims};
}

/// Rounds down.
static Value divide(BuiltinCall &call) {
  const auto *a = call.value(0).get<int64_t>(), *b = call.value(1).get<int64_t>();
  if (b && *b == 0) {
    call.error("division by zero");
    return {};
  }
  if (a && b) {
    if (*a == INT64_MIN && *b == -1)
      return outOfRange(call);
    int64_t quotient = *a / *b;
    return quotient - (*a % *b != 0 && (*a < 0) != (*b < 0));
  }
  for (unsigned i : {0, 1})
    if (!call.value(i).get<int64_t>() &&
        !(call.value(i).get<Tensor>() && call.value(i).get<Tensor>()->isInt()))
      return call.wrong(i, "an int or a tensor of ints");
  Tensor left, right;
  if (!call.elaborator.tensors.unify(call.value(0), call.value(1), "`div`", call.range, left,
                                     right))
    return {};
  return Tensor{floorDivision(call.builder(), call.location(), left.value, right.value), left.dims};
}

static Value toFloat(BuiltinCall &call) {
  const Value &value = call.value(0);
  if (value.isNumber())
    return value.number();
  if (const bool *truth = value.get<bool>())
    return *truth ? 1.0 : 0.0;
  if (const auto *tensor = value.get<Tensor>())
    return call.elaborator.tensors.cast(*tensor, call.elaborator.tensors.f32(), call.range);
  return call.wrong(0, "a number or a tensor");
}

static Value toInt(BuiltinCall &call) {
  const Value &value = call.value(0);
  if (value.get<int64_t>())
    return value;
  if (const bool *truth = value.get<bool>())
    return int64_t(*truth);
  if (const auto *number = value.get<double>()) {
    if (!(std::fabs(*number) < 9e18)) {
      call.error("`i32` of " + value.describe() + " does not fit");
      return {};
    }
    return int64_t(*number);
  }
  if (const auto *tensor = value.get<Tensor>())
    return call.elaborator.tensors.cast(*tensor, call.elaborator.tensors.i32(), call.range);
  return call.wrong(0, "a number or a tensor");
}

template <Element element> static Value toLow(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  return tensor ? Value(call.elaborator.tensors.cast(
                      *tensor, typeOf(call.builder().getContext(), element), call.range))
                : Value();
}

static Value select(BuiltinCall &call) {
  if (const bool *truth = call.value(0).get<bool>())
    return call.value(*truth ? 1 : 2);
  Elaborator &e = call.elaborator;
  const auto *condition = call.value(0).get<Tensor>();
  if (!condition || !condition->isBool())
    return call.wrong(0, "a truth value or a tensor of them");
  Value a = call.value(1), b = call.value(2);
  if (a.isNumber() && b.isNumber()) {
    bool ints = a.get<int64_t>() && b.get<int64_t>();
    a = e.tensors.constant(a.number(), ints ? e.tensors.i32() : e.tensors.f32(), {},
                           call.rangeOf(1));
  }
  Tensor onTrue, onFalse;
  if (!e.tensors.unify(a, b, "`select`", call.range, onTrue, onFalse))
    return {};
  auto dims = e.tensors.broadcastShapes(*condition, onTrue, "`select`", call.range);
  if (!dims)
    return {};
  mlir::Value chosen = SelectOp::create(call.builder(), call.location(),
                                        e.tensors.broadcast(*condition, *dims, call.range).value,
                                        e.tensors.broadcast(onTrue, *dims, call.range).value,
                                        e.tensors.broadcast(onFalse, *dims, call.range).value);
  return Tensor{chosen, *dims};
}

static Value isFinite(BuiltinCall &call) {
  if (call.value(0).isNumber())
    return std::isfinite(call.value(0).number());
  const Tensor *tensor = call.floats(0);
  if (!tensor)
    return {};
  return Tensor{IsFiniteOp::create(call.builder(), call.location(), tensor->value), tensor->dims};
}

const std::vector<Builtin> mathBuiltins = {
    {"exp", "x", floatFunction<ExpOp, std::exp>},
    {"expm1", "x", floatFunction<Expm1Op, std::expm1>},
    {"log", "x", floatFunction<LogOp, std::log>},
    {"log1p", "x", floatFunction<Log1pOp, std::log1p>},
    {"sqrt", "x", floatFunction<SqrtOp, std::sqrt>},
    {"rsqrt", "x", floatFunction<RsqrtOp, rsqrtOf>},
    {"tanh", "x", floatFunction<TanhOp, std::tanh>},
    {"sigmoid", "x", floatFunction<SigmoidOp, sigmoidOf>},
    {"normal_cdf", "x", floatFunction<NormalCdfOp, normalCdfOf>},
    {"sin", "x", floatFunction<SinOp, std::sin>},
    {"cos", "x", floatFunction<CosOp, std::cos>},
    {"erf", "x", floatFunction<ErfOp, std::erf>},
    {"sign", "x", floatFunction<SignOp, signOf>},
    {"floor", "x", floatFunction<FloorOp, std::floor>},
    {"stop_gradient", "x", floatFunction<StopGradientOp, identity>},
    {"abs", "x", absolute},
    {"max", "a, b", extreme<MaxOp, true>},
    {"min", "a, b", extreme<MinOp, false>},
    {"div", "a, b", divide},
    {"f32", "x", toFloat},
    {"i32", "x", toInt},
    {"bf16", "x", toLow<Element::bf16>},
    {"f16", "x", toLow<Element::f16>},
    {"f8e4m3", "x", toLow<Element::f8e4m3>},
    {"f8e5m2", "x", toLow<Element::f8e5m2>},
    {"select", "condition, a, b", select},
    {"is_finite", "x", isFinite},
};

} // namespace weir::elab
