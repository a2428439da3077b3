//===- RandomInputs.cpp - Random inputs of a verified program -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/RandomInputs.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Variable.h"
#include "support/precision/LossScale.h"
#include <cmath>
#include <random>

namespace weir {
namespace {

/// The schedule's middle: after any warmup, before the end.
constexpr double atStep = 25, ofSteps = 60;

/// Numbers of any size are no gradients of training: a scale that f16 bears with them too.
constexpr double lossScale = 8;

class Draw {
public:
  explicit Draw(unsigned seed) : generator(seed) {}

  double between(double low, double high) {
    // Not std::uniform_real_distribution: its numbers differ between libraries.
    return low + (high - low) * (generator() * 0x1p-64);
  }
  double below(double limit) { return std::floor(between(0, limit)); }

private:
  std::mt19937_64 generator;
};

void perturb(Tensor &tensor, Role role, Draw &draw) {
  for (double &value : tensor.values)
    switch (role) {
    case Role::parameter:
      value += draw.between(-0.2, 0.2);
      break;
    case Role::state: // a variance stays positive
      value += draw.between(0.1, 0.5);
      break;
    case Role::optimizer: // small against a gradient's square, and large, so that both terms show
      value = std::pow(10.0, draw.between(-7, -2));
      break;
    case Role::run:
      break;
    }
}

Tensor randomInput(mlir::func::FuncOp function, unsigned argument, bool positive, Draw &draw) {
  auto type = llvm::cast<mlir::RankedTensorType>(function.getArgumentTypes()[argument]);
  auto limit = function.getArgAttrOfType<mlir::IntegerAttr>(argument, limitAttrName);
  Element element = *elementOf(type.getElementType());
  Tensor tensor(type.getShape());
  for (double &value : tensor.values)
    if (rowOf(element).kind == ElementKind::real)
      value = draw.between(positive ? 0.1 : -2, 2);
    else if (rowOf(element).kind == ElementKind::truth)
      value = draw.below(2);
    else if (limit && limit.getInt() > 0)
      value = draw.below(static_cast<double>(limit.getInt()));
    else
      value = draw.below(sizeOf(element) == 1 ? double(mostOf(element) + 1) : 10);
  roundTo(type, tensor);
  return tensor;
}

} // namespace

std::map<std::string, Tensor> RandomInputs::variablesFor(llvm::StringRef entry) const {
  std::map<std::string, Tensor> before = variables;
  if (entry == "init")
    for (auto &[name, tensor] : before)
      if (!llvm::StringRef(name).starts_with(runPrefix))
        std::fill(tensor.values.begin(), tensor.values.end(), 0.0);
  return before;
}

bool isRun(llvm::StringRef entry, Moment moment, bool full) {
  return full || moment == Moment::middle || entry == "step";
}

void roundTo(mlir::Type type, Tensor &tensor) {
  Element element = *elementOf(llvm::cast<mlir::RankedTensorType>(type).getElementType());
  if (rowOf(element).kind == ElementKind::real)
    for (double &value : tensor.values)
      value = rounded(element, value);
}

/// Sizes that tensors may have had; none at the start.
static Tensor drawAmax(VariableOp variable, unsigned seed, Moment moment) {
  Tensor tensor(llvm::cast<mlir::RankedTensorType>(variable.getType()).getShape());
  Draw draw(seed);
  if (moment != Moment::start)
    for (double &value : tensor.values)
      value = draw.between(0.5, 4);
  roundTo(variable.getType(), tensor);
  return tensor;
}

void addVariables(RandomInputs &feed, mlir::ModuleOp module, unsigned seed, Moment moment) {
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getSymName() == amaxName)
      feed.variables.try_emplace(amaxName, drawAmax(variable, seed, moment));
}

mlir::FailureOr<RandomInputs> makeRandomInputs(mlir::ModuleOp module, unsigned seed, Moment moment,
                                               bool positive, const GivenInputs &given) {
  Draw draw(seed);
  RandomInputs feed;
  Interpreter interpreter;
  for (auto variable : module.getOps<VariableOp>()) {
    auto type = llvm::cast<mlir::RankedTensorType>(variable.getType());
    interpreter.variables[variable.getSymName().str()] = Tensor(type.getShape());
  }
  auto scalar = [&](const char *name, double value) {
    if (auto found = interpreter.variables.find(name); found != interpreter.variables.end())
      found->second.values[0] = value;
  };
  scalar(runSeedName, 1 + seed % 1000);
  if (auto init = module.lookupSymbol<mlir::func::FuncOp>("init"))
    if (init.getNumArguments() == 0 && mlir::failed(interpreter.run(init, {})))
      return mlir::failure();
  scalar(runStepName, moment == Moment::start ? 0 : atStep);
  scalar(runTotalStepsName, ofSteps);
  scalar(runLossScaleName, lossScale);
  scalar(runGoodStepsName, moment == Moment::start ? 0 : LossScale::goodSteps - 1);
  feed.variables = std::move(interpreter.variables);
  for (auto variable : module.getOps<VariableOp>()) {
    Tensor &tensor = feed.variables[variable.getSymName().str()];
    if (variable.getSymName() == amaxName) {
      tensor = drawAmax(variable, seed, moment);
      continue;
    }
    if (moment != Moment::start &&
        llvm::isa<mlir::FloatType>(
            llvm::cast<mlir::RankedTensorType>(variable.getType()).getElementType()))
      perturb(tensor, variable.getRole(), draw);
    roundTo(variable.getType(), tensor);
  }
  if (moment == Moment::notFinite)
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::parameter) {
        feed.variables[variable.getSymName().str()].values[0] = NAN;
        break;
      }
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    Tensors &inputs = feed.inputs[function.getSymName().str()];
    if (given && function.getNumArguments() > 0) {
      inputs = given(function);
      if (!inputs.empty())
        continue;
    }
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputs.push_back(randomInput(function, i, positive, draw));
  }
  return feed;
}

} // namespace weir
