//===- Update.cpp - Clipping, optimizers and the skip decision --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Arguments.h"
#include "frontend/elaborate/Elaborator.h"

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
  if (trained.empty() && known && !recipe.updates.empty() && !diagnostics.hasErrors()) {
    Diagnostic &report =
        error(recipe.item->keyword,
              "there is nothing to train: the model has no parameters, or all are frozen");
    for (const ast::UpdateEntry *rule : unusedRules())
      report.note(rule->range, "this `update` takes no parameter");
  }
  return trained;
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

/// Clips the gradients and returns their norm before that.
mlir::Value Elaborator::clip(std::vector<Trained> &trained, Range range) {
  Value squares;
  for (const Trained &one : trained) {
    Tensor gradient{one.gradient, one.parameter->dims};
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, gradient.rank()));
    Value square = binary(ast::BinaryOp::mul, gradient, gradient, range);
    Value sum = reduce(*square.get<Tensor>(), Reduction::sum, axes, range);
    squares = squares.isPoison() ? sum : binary(ast::BinaryOp::add, squares, sum, range);
  }
  if (squares.isPoison())
    squares = Tensor{scalar(0, range), {}};
  mlir::Value total = squares.get<Tensor>()->value;
  Tensor norm{SqrtOp::create(opBuilder, location(range), total.getType(), total, mlir::TypeAttr()),
              {}};
  if (!recipe.clip)
    return norm.value;

  const auto *method = llvm::dyn_cast<ast::CallExpr>(recipe.clip->value.get());
  if (!method || method->callee.text != "global_norm" || method->path) {
    Diagnostic &report = error(method ? method->callee.range : recipe.clip->value->range,
                               "`clip` wants a way to clip, such as `global_norm(1.0)`");
    if (method)
      report.suggest(nearest(method->callee.text, {"global_norm"}));
    return norm.value;
  }
  std::vector<CallArgument> arguments = evaluateArguments(method->arguments);
  if (arguments.size() != 1 || (arguments[0].name && arguments[0].name->text != "max")) {
    error(method->range, "`global_norm` takes one argument, the largest norm");
    return norm.value;
  }
  const Value &given = arguments[0].value;
  Value largest = given;
  const Tensor *limit = asTensor(largest, f32(), arguments[0].range);
  if (largest.isPoison())
    return norm.value;
  if (!limit || limit->rank() != 0 || !limit->isFloat() ||
      (given.isNumber() && given.number() <= 0)) {
    error(arguments[0].range,
          "the largest norm must be a positive number, but is " + given.describe());
    return norm.value;
  }
  // As torch.nn.utils.clip_grad_norm_ does.
  Value ratio =
      binary(ast::BinaryOp::div, *limit, binary(ast::BinaryOp::add, norm, 1e-6, range), range);
  mlir::Value factor =
      MinOp::create(opBuilder, location(range), total.getType(), ratio.get<Tensor>()->value,
                    scalar(1, range), mlir::TypeAttr());
  for (Trained &one : trained) {
    mlir::Value wide = spread(factor, one.parameter->type, range);
    one.gradient = MulOp::create(opBuilder, location(range), one.parameter->type, one.gradient,
                                 wide, mlir::TypeAttr());
  }
  return norm.value;
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

/// Whether the scalars and all that would be written are finite. What is not is counted, since a
/// count is finite whatever it counts; a parameter and those of its optimizer's states that have
/// its type in one sum.
mlir::Value Elaborator::allFinite(llvm::ArrayRef<mlir::Value> scalars, llvm::ArrayRef<Write> writes,
                                  Range range) {
  mlir::Location place = location(range);
  auto isFinite = [&](mlir::Value value) -> mlir::Value {
    auto truths = mlir::RankedTensorType::get(shapeOf(value), i1());
    return IsFiniteOp::create(opBuilder, place, truths, value);
  };
  auto both = [&](mlir::Value a, mlir::Value b) -> mlir::Value {
    return AndOp::create(opBuilder, place, a.getType(), a, b, mlir::TypeAttr());
  };
  mlir::Value total;
  for (size_t i = 0; i < writes.size();) {
    const Variable &variable = *writes[i].variable;
    mlir::Value next = writes[i++].next;
    if (!variable.type.getElementType().isF32())
      continue;
    mlir::Value good = isFinite(next);
    for (; i < writes.size() && writes[i].variable->role == Role::optimizer &&
           writes[i].variable->type == variable.type;
         ++i)
      good = both(good, isFinite(writes[i].next));
    mlir::Value bad = NotOp::create(opBuilder, place, good.getType(), good, mlir::TypeAttr());
    Tensor ones = cast(Tensor{bad, variable.dims}, f32(), range);
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, ones.rank()));
    mlir::Value count = reduce(ones, Reduction::sum, axes, range).value;
    total = total ? AddOp::create(opBuilder, place, count.getType(), total, count, mlir::TypeAttr())
                        .getResult()
                  : count;
  }
  // The count comes first: what is known before it then waits for it, and nothing that it waits for
  // ends in one kernel with what does not.
  mlir::Value finite;
  if (total)
    finite = CompareOp::create(opBuilder, place, Predicate::eq, total, scalar(0, range));
  for (mlir::Value one : scalars)
    finite = finite ? both(finite, isFinite(one)) : isFinite(one);
  return finite;
}

void Elaborator::emitUpdate(mlir::Value loss, std::vector<Trained> &trained,
                            std::vector<Output> &outputs) {
  Range range = recipe.clip ? recipe.clip->range : recipe.item->keyword;
  std::vector<Output> gradients;
  if (options.gradients)
    for (const Trained &one : trained)
      gradients.push_back({"gradient/" + one.parameter->path.symbol, "tensor", one.gradient});
  mlir::Value norm = clip(trained, range);

  std::optional<Tensor> rate;
  if (recipe.learningRate) {
    const ast::Expr &expr = *recipe.learningRate->value;
    Value value = evaluate(expr);
    Value scalar = value;
    const Tensor *tensor = asTensor(scalar, f32(), expr.range);
    if (tensor && tensor->rank() == 0 && tensor->isFloat()) {
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
          .suggest(nearest(name.text, names));
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
  auto truth = type({}, i1());
  std::vector<mlir::Value> scalars = {loss, norm};
  if (rate)
    scalars.push_back(rate->value);
  mlir::Value finite = allFinite(scalars, writes, range);
  for (const Write &write : writes) {
    const Variable &variable = *write.variable;
    mlir::Value old = readAtTop(variable.path.symbol, variable.type, range);
    mlir::Value value = SelectOp::create(opBuilder, write.location, variable.type,
                                         spread(finite, variable.type, range), write.next, old);
    WriteOp::create(opBuilder, write.location, variable.path.symbol, value);
  }

  if (!changed && !diagnostics.hasErrors())
    error(recipe.updates.front()->range,
          "no parameter is changed: no `next " +
              rules[trained.front().rule].first->parameters[0].name.text + " = …` is reached");

  mlir::Value step = readRun("step", range);
  mlir::Value one = constant(1, i32(), {}, range).get<Tensor>()->value;
  WriteOp::create(opBuilder, place, "run/step",
                  AddOp::create(opBuilder, place, step.getType(), step, one, mlir::TypeAttr()));
  if (rate)
    outputs.push_back({"lr", "scalar", rate->value});
  outputs.push_back({"grad_norm", "scalar", norm});
  mlir::Value skipped = NotOp::create(opBuilder, place, truth, finite, mlir::TypeAttr());
  outputs.push_back(
      {"skipped", "scalar", CastOp::create(opBuilder, place, type({}, f32()), skipped)});
  outputs.insert(outputs.end(), gradients.begin(), gradients.end());
}

} // namespace weir::elab
