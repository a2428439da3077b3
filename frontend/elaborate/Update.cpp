//===- Update.cpp - Clipping and optimizers -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/recipe/Recipe.h"
#include "support/NearestName.h"

namespace weir::elab {

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

/// The largest norm that the recipe allows; null where it does not clip, or after an error.
mlir::Value Elaborator::clipLimit() {
  if (!recipe.clip)
    return nullptr;
  const auto *method = llvm::dyn_cast<ast::CallExpr>(recipe.clip->value.get());
  if (!method || method->callee.text != "global_norm" || method->path) {
    Diagnostic &report = error(method ? method->callee.range : recipe.clip->value->range,
                               "`clip` wants a way to clip, such as `global_norm(1.0)`");
    if (method)
      report.suggest(nearestName(method->callee.text, {"global_norm"}));
    return nullptr;
  }
  std::vector<CallArgument> arguments = evaluateArguments(method->arguments);
  if (arguments.size() != 1 || (arguments[0].name && arguments[0].name->text != "max")) {
    error(method->range, "`global_norm` takes one argument, the largest norm");
    return nullptr;
  }
  const Value &given = arguments[0].value;
  Value largest = given;
  const Tensor *limit = tensors.asTensor(largest, tensors.f32(), arguments[0].range);
  if (largest.isPoison())
    return nullptr;
  if (!limit || limit->rank() != 0 || !limit->isFloat() ||
      (given.isNumber() && given.number() <= 0)) {
    error(arguments[0].range,
          "the largest norm must be a positive number, but is " + given.describe());
    return nullptr;
  }
  return limit->value;
}

/// Clips the gradients and returns their norm before that.
mlir::Value Elaborator::clip(std::vector<Trained> &trained, Range range) {
  std::vector<mlir::Value> gradients;
  for (const Trained &one : trained)
    gradients.push_back(one.gradient);
  mlir::Value limit = clipLimit();
  std::vector<mlir::Type> types;
  if (limit)
    llvm::append_range(types, mlir::ValueRange(gradients).getTypes());
  auto clip = ClipOp::create(opBuilder, location(range), tensors.type({}, tensors.f32()), types,
                             gradients, limit);
  for (auto [one, clipped] : llvm::zip(trained, clip.getClipped()))
    one.gradient = clipped;
  return clip.getNorm();
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

/// Moves the `next` values of the states so far into `writes`.
static void takeNexts(Entry &entry, std::vector<Write> &writes) {
  for (const auto &[state, next] : entry.nexts)
    writes.push_back({state, next.value, next.location});
  entry.nexts.clear();
}

/// The learning rate of the step, where the recipe has one; bound as `lr` for the rules.
std::optional<Tensor> Elaborator::learningRate() {
  if (!recipe.learningRate)
    return std::nullopt;
  const ast::Expr &expr = *recipe.learningRate->value;
  Value value = evaluate(expr);
  Value scalar = value;
  std::optional<Tensor> rate;
  const Tensor *tensor = tensors.asTensor(scalar, tensors.f32(), expr.range);
  if (tensor && tensor->rank() == 0 && tensor->isFloat()) {
    warnings.warnLearningRate(value, expr.range);
    rate = *tensor;
  } else {
    if (!scalar.isPoison())
      error(expr.range, "a learning rate is a float, but this is " + value.describe());
    value = Value();
  }
  recipeScope.names["lr"] = Binding{value, recipe.learningRate->keyword, {}, {}, false};
  return rate;
}

/// Walks an optimizer's body for one parameter. Whether it changes the parameter.
bool Elaborator::runOptimizer(const Trained &trained, const UpdateRule &rule,
                              std::vector<Write> &writes) {
  const ast::CallableItem *optimizer = rule.optimizer;
  const Variable &parameter = *trained.parameter;
  Range call = trained.rule->optimizer->range;
  OptimizerTarget target{&parameter, optimizer->parameters[0].name.text, nullptr};
  auto instance = std::make_shared<Instance>();
  instance->callable = optimizer;
  std::string prefix = optimizer->name.text + "/";
  instance->path = {prefix + parameter.path.path, prefix + parameter.path.symbol};
  instance->range = call;
  mlir::Value old = readAtTop(parameter.path.symbol, parameter.type, parameter.range);
  std::vector<CallArgument> all = {
      {std::nullopt, Tensor{old, parameter.dims}, call, {}},
      {std::nullopt, Tensor{trained.gradient, parameter.dims}, call, {}}};
  llvm::append_range(all, rule.arguments);
  callCallable(*optimizer, instance, std::move(all), call, &target);
  if (target.next)
    writes.push_back({&parameter, target.next, location(call)});
  takeNexts(*currentEntry, writes);
  return target.next != nullptr;
}

/// Walks the optimizer of every trained parameter. The step writes the blocks' own states, then
/// what each parameter's optimizer gives.
std::vector<Write> Elaborator::runOptimizers(const std::vector<Trained> &trained) {
  std::map<const ast::UpdateEntry *, UpdateRule> resolved;
  for (const ast::UpdateEntry *entry : recipe.updates) { // also one that takes no parameter
    UpdateRule &rule = resolved[entry] = rules.resolve(*entry);
    if (rule.learningRate)
      warnings.warnLearningRate(rule.learningRate->value, rule.learningRate->range);
  }
  std::vector<Write> writes;
  takeNexts(*currentEntry, writes);
  bool changed = false;
  for (const Trained &one : trained)
    if (const UpdateRule &rule = resolved[one.rule]; rule.optimizer)
      changed |= runOptimizer(one, rule, writes);
  if (!trained.empty() && !changed && !diagnostics.hasErrors())
    error(recipe.updates.front()->range,
          "no parameter is changed: no `next " +
              resolved[trained.front().rule].optimizer->parameters[0].name.text +
              " = …` is reached");
  return writes;
}

/// Writes every value, unless one of them or of `deciding` is not finite. Returns whether all are.
static mlir::Value writeIfFinite(mlir::OpBuilder &builder, const std::vector<Write> &writes,
                                 std::vector<mlir::Value> deciding, mlir::Location place) {
  for (const Write &write : writes)
    if (write.variable->type.getElementType().isF32())
      deciding.push_back(write.next);
  mlir::Value finite = AllFiniteOp::create(builder, place, deciding);
  for (const Write &write : writes)
    WriteOp::create(builder, write.location, write.variable->path.symbol, write.next, finite);
  return finite;
}

/// Without anything to train a step gives the loss, and states their next values.
void Elaborator::emitUpdate(mlir::Value loss, std::vector<Trained> &trained,
                            std::vector<Output> &outputs) {
  Range range = recipe.clip ? recipe.clip->range : recipe.item->keyword;
  std::vector<Output> gradients;
  if (options.gradients)
    for (const Trained &one : trained)
      gradients.push_back({gradientPrefix + one.parameter->path.symbol, "tensor", one.gradient});
  mlir::Value norm;
  if (trained.empty())
    clipLimit(); // is checked all the same
  else
    norm = clip(trained, range);

  std::optional<Tensor> rate = learningRate();
  std::vector<Write> writes = runOptimizers(trained);

  mlir::Location place = location(range);
  std::vector<mlir::Value> deciding = {loss};
  if (norm)
    deciding.push_back(norm);
  if (rate)
    deciding.push_back(rate->value);
  mlir::Value finite = writeIfFinite(opBuilder, writes, std::move(deciding), place);

  mlir::Value step = readRun("step", range);
  mlir::Value one = tensors.constant(1, tensors.i32(), {}, range).get<Tensor>()->value;
  WriteOp::create(opBuilder, place, runStepName, AddOp::create(opBuilder, place, step, one));
  if (rate)
    outputs.push_back({"lr", "scalar", rate->value});
  if (norm)
    outputs.push_back({"grad_norm", "scalar", norm});
  mlir::Value skipped = NotOp::create(opBuilder, place, finite);
  outputs.push_back({"skipped", "scalar",
                     CastOp::create(opBuilder, place, tensors.type({}, tensors.f32()), skipped)});
  outputs.insert(outputs.end(), gradients.begin(), gradients.end());
}

} // namespace weir::elab
