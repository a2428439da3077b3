//===- Gradients.cpp - Gradients against differences of the loss ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With v a random direction for each parameter p: (loss(p + h v) - loss(p - h v)) / 2h = <gradient,
// v> but for terms in h^2, which extrapolation from h and h / 2 removes (Richardson, 1911). The
// loss is run again from the values of the step that it depends on; what stop_gradient returns
// stays as it is.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "tools/dev/weir-smith/Check.h"
#include "tools/dev/weir-smith/Trial.h"
#include "verify/Compare.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace weir::smith {
namespace {

/// The ops between sources and a loss, in the order in which they run.
SmallVector<Operation *> pathTo(GradientOp gradient) {
  llvm::SetVector<Operation *> behind;
  SmallVector<Value> open{gradient.getLoss()};
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp(); op && behind.insert(op))
      llvm::append_range(open, op->getOperands());
  SmallVector<Operation *> path(behind.begin(), behind.end());
  // A body's ops run after those around it.
  llvm::sort(path, [&](Operation *a, Operation *b) {
    if (a->getBlock() == b->getBlock())
      return a->isBeforeInBlock(b);
    return a->getBlock() != gradient->getBlock();
  });
  return path;
}

class Differences {
public:
  Differences(GradientOp gradient, const Trial &trial) : gradient(gradient), trial(trial) {
    path = pathTo(gradient);
  }

  /// The derivative of the loss along `direction` of a source.
  double along(Value source, const Tensor &direction, double step) {
    double wide = centered(source, direction, step);
    return (4 * centered(source, direction, step / 2) - wide) / 3;
  }

private:
  double centered(Value source, const Tensor &direction, double step) {
    return (lossAt(source, direction, step) - lossAt(source, direction, -step)) / (2 * step);
  }

  double lossAt(Value source, const Tensor &direction, double step) {
    llvm::DenseMap<Value, Tensor> moved;
    Tensor &start = moved[source] = trial.values.find(source)->second.truth;
    for (size_t i = 0; i < start.values.size(); ++i)
      start.values[i] += step * direction.values[i];
    Interpreter interpreter;
    auto valueOf = [&](Value value) {
      auto found = moved.find(value);
      return found != moved.end() ? found->second : trial.values.find(value)->second.truth;
    };
    for (Operation *op : path) {
      if (isa<StopGradientOp>(op) ||
          llvm::none_of(op->getOperands(), [&](Value operand) { return moved.contains(operand); }))
        continue;
      Tensors operands = llvm::map_to_vector(op->getOperands(), valueOf);
      auto before = [&](unsigned number) -> const Tensor & {
        return trial.values.find(op->getOperand(number))->second.truth;
      };
      auto interpretable = cast<Interpretable>(op);
      // What rounds to low precision is a step of its operand: it rounds by as much as before.
      auto results = isa<CastOp>(op) ? interpretable.evaluateChosen(operands, before, interpreter)
                                     : interpretable.evaluate(operands, interpreter);
      if (failed(results))
        return NAN;
      for (auto [value, tensor] : llvm::zip(op->getResults(), *results))
        moved[value] = std::move(tensor);
    }
    return valueOf(gradient.getLoss()).values[0];
  }

  GradientOp gradient;
  const Trial &trial;
  SmallVector<Operation *> path;
};

/// The gradient result that a value of a step is, through the sums of microbatches.
std::pair<GradientOp, unsigned> gradientBehind(Value value) {
  if (auto microbatches = value.getDefiningOp<MicrobatchesOp>())
    value = microbatches.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber());
  auto gradient = value.getDefiningOp<GradientOp>();
  return {gradient, gradient ? cast<OpResult>(value).getResultNumber() : 0};
}

double dot(const Tensor &a, const Tensor &b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip(a.values, b.values))
    sum += x * y;
  return sum;
}

Known exactly(Tensor tensor) { return {tensor, tensor, true}; }

/// One gradient that the step gives, along one random direction.
struct Named {
  StringAttr name;
  unsigned result;
  GradientOp gradient;
  Value source;
  Tensor direction;
  std::map<double, double> found; ///< the loss's difference, by step width
};

constexpr double widths[] = {1e-4, 1e-5, 1e-6};

std::vector<Named> gradientsIn(ModuleOp program, func::FuncOp step) {
  std::vector<Named> all;
  Operation *end = step.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    auto name = step.getResultAttrOfType<StringAttr>(i, outputAttrName);
    auto [gradient, number] = gradientBehind(end->getOperand(i));
    if (!name || !name.getValue().starts_with(gradientPrefix) || !gradient)
      continue;
    Value source = gradient.getSources()[number];
    all.push_back({name,
                   i,
                   gradient,
                   source,
                   draw(program, ("direction/" + name.getValue()).str(), source.getType(), {}),
                   {}});
  }
  return all;
}

/// Runs the step and finds each one's differences. Why it cannot, or "".
std::string findDifferences(ModuleOp program, func::FuncOp step, std::vector<Named> &all) {
  Trial trial;
  for (auto &[name, tensor] : drawVariables(program))
    trial.variables[name] = exactly(tensor);
  trial.onGradient = [&](GradientOp gradient) {
    Differences differences(gradient, trial);
    for (Named &one : all)
      if (one.gradient == gradient)
        for (double width : widths)
          one.found[width] += differences.along(one.source, one.direction, width);
  };
  SmallVector<Known> inputs;
  for (Tensor &tensor : drawInputs(step))
    inputs.push_back(exactly(std::move(tensor)));
  return trial.run(step, inputs) ? "" : "the loss cannot be run: " + trial.refusal;
}

/// The difference that is nearest to what a gradient gives along the direction.
struct Nearest {
  double difference = 0;
  double distance = INFINITY; ///< of it; infinite if no difference is a number
  double spread = INFINITY;   ///< of the two differences that are closest
};

/// A width may reach over a kink or drown in rounding; all of them do not, and how far the two that
/// are closest are apart is what differences can say here.
Nearest nearestOf(const std::map<double, double> &found, double given) {
  Nearest nearest;
  for (auto [width, difference] : found) {
    if (std::fabs(difference - given) < nearest.distance) {
      nearest.distance = std::fabs(difference - given);
      nearest.difference = difference;
    }
    for (auto [other, again] : found)
      if (other < width)
        nearest.spread = std::min(nearest.spread, std::fabs(difference - again));
  }
  if (!std::isfinite(nearest.spread)) // one width is left
    nearest.spread = 0;
  return nearest;
}

} // namespace

std::string checkGradients(ModuleOp program, func::FuncOp differentiated, double tolerance,
                           double absolute) {
  auto step = program.lookupSymbol<func::FuncOp>(differentiated.getSymName());
  std::vector<Named> all = gradientsIn(program, step);
  if (all.empty())
    return "";
  if (std::string why = findDifferences(program, step, all); !why.empty())
    return why;
  Interpreter interpreter;
  interpreter.variables = drawVariables(program);
  auto results = interpreter.run(differentiated, drawInputs(step));
  if (failed(results))
    return "the interpreter fails";
  double largest = 0;
  for (const Named &one : all) {
    double size = norm((*results)[one.result]);
    if (!std::isfinite(size)) // which no tolerance below could tell from any other
      return llvm::formatv("{0} holds what is infinite or no number", one.name);
    largest = std::max(largest, size);
  }
  for (const Named &one : all) {
    const Tensor &gradient = (*results)[one.result];
    double given = dot(gradient, one.direction);
    Nearest nearest = nearestOf(one.found, given);
    if (!std::isfinite(nearest.distance))
      return llvm::formatv("{0}: the loss has no difference along a random direction", one.name);
    double scale = std::max(norm(gradient), 1e-3 * largest) * norm(one.direction);
    if (!(nearest.distance <= tolerance * scale + absolute + nearest.spread))
      return llvm::formatv("{0} along a random direction is {1:e9}, the loss's difference {2:e9}",
                           one.name, given, nearest.difference);
  }
  return "";
}

} // namespace weir::smith
