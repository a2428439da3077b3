//===- Update.cpp - Clipping and optimizers ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Arguments.h"
#include "frontend/elaborate/Elaborator.h"
#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/recipe/Recipe.h"
#include "runtime/base/NearestName.h"

namespace weir::elab {

//===----------------------------------------------------------------------===//
// Which rule takes which parameter
//===----------------------------------------------------------------------===//

bool Elaborator::matches(const ast::UpdateEntry &rule, const Variable &parameter) {
  if (!rule.where)
    return true;
  Scope scope, *outer = current->scope;
  scope.outer = outer;
  Range range = rule.where->range;
  int64_t rank = parameter.dims.size(), size = parameter.type.getNumElements();
  scope.names["rank"] = Binding{rank, range, {}, {}, false};
  scope.names["size"] = Binding{size, range, {}, {}, false};
  scope.names["name"] = Binding{parameter.path.path, range, {}, {}, false};
  current->scope = &scope;
  // After an error in the predicate the rule takes all, so that none is reported as left out.
  bool result = evaluateCondition(*rule.where, "what stands after `where`").value_or(true);
  current->scope = outer;
  return result;
}

bool Elaborator::takesGradient(const ast::CallableItem &optimizer) {
  const auto &parameters = optimizer.parameters;
  if (parameters.size() >= 2 && !parameters[0].defaultValue && !parameters[1].defaultValue)
    return true;
  error(optimizer.name.range,
        "an optimizer's first two arguments are the parameter and its gradient")
      .help("write `optimizer " + optimizer.name.text + "(p, g, …)`");
  return false;
}

static bool hasNext(const ast::Body &body) {
  bool found = false;
  visit(body, [&](const ast::Stmt &stmt) { found |= llvm::isa<ast::NextStmt>(stmt); });
  return found;
}

const ast::UpdateEntry *Elaborator::ruleOf(const Variable &parameter) {
  for (const ast::UpdateEntry *rule : recipe.updates)
    if (matches(*rule, parameter))
      return rule;
  return nullptr;
}

std::vector<Elaborator::Trained> Elaborator::trainedParameters() {
  std::vector<Trained> trained;
  bool known = true; // what the rules do
  for (auto &variable : variables) {
    if (variable->role != Role::parameter)
      continue;
    const ast::UpdateEntry *taken = ruleOf(*variable);
    const ast::CallableItem *optimizer =
        taken ? findCallable(taken->optimizer->callee.text) : nullptr;
    known &= !taken || (optimizer && optimizer->callableKind == ast::CallableKind::optimizer &&
                        optimizer->parameters.size() >= 2);
    // An optimizer that changes nothing needs no gradient, and its parameters are not in the norm.
    if (optimizer && !hasNext(optimizer->body))
      continue;
    if (taken)
      trained.push_back({variable.get(), taken, nullptr});
    else if (!recipe.updates.empty())
      error(recipe.updates.back()->range,
            "no `update` takes the parameter `" + variable->path.path + "`")
          .note(variable->range, "declared here")
          .help("a last line without `where` takes what is left; `update frozen()` keeps it as it "
                "is");
  }
  if (trained.empty() && known && !recipe.updates.empty() && !diagnostics.hasErrors())
    diagnostics
        .warning(recipe.item->keyword, Warning::nothingToTrain,
                 "there is nothing to train: the model has no parameters, or all are frozen")
        .help("`weir eval` and `weir predict` run it");
  return trained;
}

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
  const Tensor *limit = asTensor(largest, f32(), arguments[0].range);
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
  auto clip = ClipOp::create(opBuilder, location(range), type({}, f32()), types, gradients, limit);
  for (auto [one, clipped] : llvm::zip(trained, clip.getClipped()))
    one.gradient = clipped;
  return clip.getNorm();
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

/// Moves the `next` values of the states so far into `writes`.
void Elaborator::takeNexts(std::vector<Write> &writes) {
  for (const auto &[state, next] : currentEntry->nexts)
    writes.push_back({state, next.value, next.location});
  currentEntry->nexts.clear();
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

  std::optional<Tensor> rate;
  if (recipe.learningRate) {
    const ast::Expr &expr = *recipe.learningRate->value;
    Value value = evaluate(expr);
    Value scalar = value;
    const Tensor *tensor = asTensor(scalar, f32(), expr.range);
    if (tensor && tensor->rank() == 0 && tensor->isFloat()) {
      warnLearningRate(value, expr.range);
      rate = *tensor;
    } else {
      if (!scalar.isPoison())
        error(expr.range, "a learning rate is a float, but this is " + value.describe());
      value = Value();
    }
    recipeScope.names["lr"] = Binding{value, recipe.learningRate->keyword, {}, {}, false};
  }

  // The arguments of a rule are the same for all its parameters.
  std::map<const ast::UpdateEntry *,
           std::pair<const ast::CallableItem *, std::vector<CallArgument>>>
      rules;
  for (const ast::UpdateEntry *rule : recipe.updates) {
    const ast::Identifier &name = rule->optimizer->callee;
    const ast::CallableItem *callable = findCallable(name.text);
    if (!callable || callable->callableKind != ast::CallableKind::optimizer) {
      std::vector<std::string> names;
      for (const auto *callables : {&modelFile.callables, &preludeCallables})
        for (const auto &[other, item] : *callables)
          if (item->callableKind == ast::CallableKind::optimizer)
            names.push_back(other);
      unknown(name.range, callable ? "`" + name.text + "` is no optimizer"
                                   : "unknown optimizer `" + name.text + "`")
          .suggest(nearestName(name.text, names));
      callable = nullptr;
    } else if (!takesGradient(*callable)) {
      callable = nullptr;
    }
    // Also of a rule that takes no parameter.
    std::vector<CallArgument> all(2);
    llvm::append_range(all, evaluateArguments(rule->optimizer->arguments));
    std::vector<const CallArgument *> slots;
    if (callable &&
        !assignArguments(*this, signatureOf(*callable, 2), all, rule->optimizer->range, slots))
      callable = nullptr;
    for (size_t i = 2; callable && i < slots.size(); ++i)
      if (slots[i] && callable->parameters[i].name.text == "lr")
        warnLearningRate(slots[i]->value, slots[i]->range);
    rules[rule] = {callable, {all.begin() + 2, all.end()}};
  }

  // The blocks' own states, then each rule's.
  std::vector<Write> writes;
  takeNexts(writes);
  bool changed = false;
  for (const Trained &one : trained) {
    auto &[callable, arguments] = rules[one.rule];
    if (!callable)
      continue;
    Range call = one.rule->optimizer->range;
    OptimizerTarget target{one.parameter, callable->parameters[0].name.text, nullptr};
    auto instance = std::make_shared<Instance>();
    instance->callable = callable;
    std::string prefix = callable->name.text + "/";
    instance->path = {prefix + one.parameter->path.path, prefix + one.parameter->path.symbol};
    instance->range = call;
    mlir::Value old =
        readAtTop(one.parameter->path.symbol, one.parameter->type, one.parameter->range);
    std::vector<CallArgument> all = {
        {std::nullopt, Tensor{old, one.parameter->dims}, call, {}},
        {std::nullopt, Tensor{one.gradient, one.parameter->dims}, call, {}}};
    all.insert(all.end(), arguments.begin(), arguments.end());
    callCallable(*callable, instance, std::move(all), call, &target);
    changed |= target.next != nullptr;
    if (target.next)
      writes.push_back({one.parameter, target.next, location(call)});
    takeNexts(writes);
  }

  mlir::Location place = location(range);
  std::vector<mlir::Value> deciding = {loss};
  if (norm)
    deciding.push_back(norm);
  if (rate)
    deciding.push_back(rate->value);
  for (const Write &write : writes)
    if (write.variable->type.getElementType().isF32())
      deciding.push_back(write.next);
  mlir::Value finite = AllFiniteOp::create(opBuilder, place, deciding);
  for (const Write &write : writes)
    WriteOp::create(opBuilder, write.location, write.variable->path.symbol, write.next, finite);

  if (!trained.empty() && !changed && !diagnostics.hasErrors())
    error(recipe.updates.front()->range,
          "no parameter is changed: no `next " +
              rules[trained.front().rule].first->parameters[0].name.text + " = …` is reached");

  mlir::Value step = readRun("step", range);
  mlir::Value one = constant(1, i32(), {}, range).get<Tensor>()->value;
  WriteOp::create(opBuilder, place, runStepName, AddOp::create(opBuilder, place, step, one));
  if (rate)
    outputs.push_back({"lr", "scalar", rate->value});
  if (norm)
    outputs.push_back({"grad_norm", "scalar", norm});
  mlir::Value skipped = NotOp::create(opBuilder, place, finite);
  outputs.push_back(
      {"skipped", "scalar", CastOp::create(opBuilder, place, type({}, f32()), skipped)});
  outputs.insert(outputs.end(), gradients.begin(), gradients.end());
}

} // namespace weir::elab
