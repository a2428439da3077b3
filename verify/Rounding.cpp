//===- Rounding.cpp - The effect of rounding to f32 on a kernel -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Rounding.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "verify/Compare.h"
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

namespace weir {
namespace {

constexpr int trials = 9;
/// Functions are right to a few units in the last place, one rounding is half of one.
constexpr double slack = 8;
/// Of kernels that decide: each answer that f32 may give should come up.
constexpr int trialsOfAnswers = 40;

bool isFloat(mlir::Type type) {
  return llvm::isa<mlir::FloatType>(llvm::cast<mlir::RankedTensorType>(type).getElementType());
}

RoundingKind kindOf(mlir::Operation &op) {
  auto castable = llvm::dyn_cast<Castable>(op);
  return castable ? castable.rounding() : RoundingKind::once;
}

/// The first result is a logarithm: small where a row is confident, but the sum behind it is 1 or
/// more. What else there is has been disturbed with the operands.
Tensors magnitudesOfLog(Tensors results) {
  for (Tensor &tensor : llvm::drop_begin(results))
    tensor = Tensor(tensor.shape);
  for (double &value : results[0].values)
    value = 1 + std::abs(value);
  return results;
}

class Rounding {
public:
  explicit Rounding(int trial) : trial(trial), state(trial) {}

  /// To a neighbouring f32; numbers that are one stay.
  double round(double value) {
    auto nearest = static_cast<float>(value);
    if (nearest == value || !std::isfinite(value) || trial == 0)
      return nearest;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (direction() > 0)
      return nearest < value ? std::nextafter(nearest, infinity) : nearest;
    return nearest > value ? std::nextafter(nearest, -infinity) : nearest;
  }
  /// To a neighbour of an f32, or by as large a part.
  double disturb(double value, double part) {
    if (trial == 0 || value == 0 || !std::isfinite(value))
      return value;
    if (part)
      return value * (1 + direction() * part);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    return std::nextafter(static_cast<float>(value), direction() > 0 ? infinity : -infinity);
  }
  /// As a sum of numbers with these magnitudes, each off by such a part or by an f32's rounding.
  double roundSum(double value, double magnitude, double part) {
    bool rounds = trial != 0 && std::isfinite(value) && std::isfinite(magnitude);
    return rounds ? round(value + direction() * std::max(part, 0x1p-24) * magnitude) : round(value);
  }

  /// By as much, up or down.
  double shift(double most) { return trial == 0 ? 0 : direction() * most; }

private:
  /// 1 or -1.
  double direction() {
    if (trial <= 2)
      return trial == 1 ? 1 : -1;
    state += 0x9e3779b97f4a7c15; // SplitMix64
    uint64_t bits = state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return (bits >> 63) ? 1 : -1;
  }

  const int trial;
  uint64_t state;
};

void forFloats(mlir::TypeRange types, llvm::MutableArrayRef<Tensor> tensors,
               llvm::function_ref<double(double, size_t tensor, size_t element)> change) {
  for (size_t t = 0; t < tensors.size(); ++t)
    if (isFloat(types[t]))
      for (size_t i = 0; i < tensors[t].values.size(); ++i)
        tensors[t].values[i] = change(tensors[t].values[i], t, i);
}

mlir::FailureOr<Tensors> evaluate(mlir::Operation &op, Tensors operands, Rounding *rounding,
                                  Interpreter &interpreter) {
  auto interpretable = llvm::dyn_cast<Interpretable>(op);
  if (!interpretable)
    return op.emitOpError("has no reference semantics");
  RoundingKind kind = kindOf(op);
  double part = roundingOfFactors(&op);
  mlir::FailureOr<Tensors> magnitudes = Tensors();
  if (rounding && (kind == RoundingKind::sum || kind == RoundingKind::products)) {
    Tensors positive = operands;
    forFloats(op.getOperandTypes(), positive,
              [](double value, size_t, size_t) { return std::abs(value); });
    magnitudes = interpretable.evaluate(positive, interpreter);
    if (mlir::failed(magnitudes))
      return mlir::failure();
  }
  if (rounding && (kind == RoundingKind::composite || kind == RoundingKind::logOfSum))
    forFloats(op.getOperandTypes(), operands,
              [&](double value, size_t, size_t) { return rounding->disturb(value, part); });
  mlir::FailureOr<Tensors> results = interpretable.evaluate(operands, interpreter);
  if (mlir::failed(results) || !rounding)
    return results;
  if (kind == RoundingKind::logOfSum)
    magnitudes = magnitudesOfLog(*results);
  forFloats(op.getResultTypes(), *results, [&](double value, size_t result, size_t i) {
    return magnitudes->empty()
               ? rounding->round(value)
               : rounding->roundSum(value, (*magnitudes)[result].values[i], 2 * part);
  });
  return results;
}

/// A float of low precision is a large step of what may be a small difference: beside the middle of
/// two of them it is either, wherever in what f32 allows the number lies that is rounded: which is
/// as large a part of the tensor's norm as may be between a result in f32 and its truth.
bool steps(mlir::Operation &op) {
  if (llvm::isa<RoundAtRandomOp>(op))
    return true;
  auto cast = llvm::dyn_cast<CastOp>(op);
  return cast && isLow(tensorType(cast.getResult()).getElementType()) &&
         tensorType(cast.getInput()).getElementType().isF32();
}

double rootMeanSquare(const Tensor &tensor) {
  double squares = 0;
  for (double value : tensor.values)
    squares += std::isfinite(value) ? value * value : 0;
  return std::sqrt(squares / std::max<size_t>(tensor.values.size(), 1));
}

using Values = llvm::DenseMap<mlir::Value, Tensor>;

/// What all values of a kernel are is left in `values`. Of a rounded one `exact` has what they are
/// before they are rounded to f32.
mlir::FailureOr<Tensors> evaluate(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                  Rounding *rounding, Interpreter &interpreter, Values &values,
                                  const Values &exact) {
  mlir::Block &block = meaning.getBody().front();
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), inputs))
    values[argument] = tensor;
  for (mlir::Operation &op : block.without_terminator()) {
    Tensors operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    if (rounding && steps(op)) {
      double most = actionTolerance * rootMeanSquare(exact.at(op.getOperand(0)));
      for (auto [value, truth] :
           llvm::zip_equal(operands[0].values, exact.at(op.getOperand(0)).values))
        if (std::isfinite(value - truth))
          value = truth + slack * (value - truth) + rounding->shift(most);
    }
    mlir::FailureOr<Tensors> results = evaluate(op, std::move(operands), rounding, interpreter);
    if (mlir::failed(results))
      return mlir::failure();
    for (auto [value, tensor] : llvm::zip(op.getResults(), *results))
      values[value] = std::move(tensor);
  }
  Tensors results;
  for (mlir::Value value : block.getTerminator()->getOperands())
    results.push_back(values.at(value));
  return results;
}

} // namespace

double coarsestStep(mlir::ModuleOp program) {
  double step = 0;
  program.walk([&](CastOp cast) {
    if (cast.narrows())
      step = std::max(step, lastPlace(*elementOf(tensorType(cast.getResult()).getElementType())));
  });
  return step + 2 * roundingOfFactors(program);
}

double allowanceFrom(double rounded, double truth) {
  if (rounded == truth || (std::isnan(rounded) && std::isnan(truth)))
    return 0;
  return std::isfinite(rounded) && std::isfinite(truth) ? slack * std::abs(rounded - truth)
                                                        : std::numeric_limits<double>::infinity();
}

mlir::FailureOr<Tensors> evaluateExactly(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                         Interpreter &interpreter) {
  Values values;
  return evaluate(meaning, inputs, nullptr, interpreter, values, Values());
}

mlir::FailureOr<Tensors> roundingAllowance(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                           const Tensors &truth, const Tensors &actual,
                                           Interpreter &interpreter,
                                           llvm::function_ref<bool(const Tensors &)> enough) {
  Tensors allowance;
  for (const Tensor &tensor : truth)
    allowance.emplace_back(tensor.shape);
  mlir::ValueRange yielded = meaning.getBody().front().getTerminator()->getOperands();
  bool decides = !llvm::all_of(yielded.getTypes(), isFloat);
  Values exact;
  if (llvm::any_of(meaning.getBody().front(), steps) &&
      mlir::failed(evaluate(meaning, inputs, nullptr, interpreter, exact, Values())))
    return mlir::failure();
  for (int trial = 0; trial < (decides ? trialsOfAnswers : trials); ++trial) {
    Rounding rounding(trial);
    Values values;
    mlir::FailureOr<Tensors> rounded =
        evaluate(meaning, inputs, &rounding, interpreter, values, exact);
    if (mlir::failed(rounded))
      return mlir::failure();
    for (size_t t = 0; t < truth.size(); ++t)
      for (size_t i = 0; i < truth[t].values.size(); ++i) {
        double other = (*rounded)[t].values[i], &allowed = allowance[t].values[i];
        if (!isFloat(yielded[t].getType()))
          allowed =
              other == actual[t].values[i] ? std::numeric_limits<double>::infinity() : allowed;
        else if (trial < trials)
          allowed = std::max(allowed, allowanceFrom(other, truth[t].values[i]));
      }
    if (enough(allowance))
      break;
  }
  return allowance;
}

void roundLikeF32(Interpreter &interpreter, int trial) {
  auto rounding = std::make_shared<Rounding>(trial);
  interpreter.compute = [rounding](mlir::Operation &op, Tensors operands,
                                   Interpreter &running) -> mlir::FailureOr<Tensors> {
    // What is in a region is rounded there.
    bool rounds = op.getNumRegions() == 0 && op.getNumResults() > 0;
    if (rounds && steps(op)) {
      double most = actionTolerance * rootMeanSquare(operands[0]);
      for (double &value : operands[0].values)
        if (std::isfinite(value))
          value += rounding->shift(most);
    }
    return evaluate(op, std::move(operands), rounds ? rounding.get() : nullptr, running);
  };
}

} // namespace weir
