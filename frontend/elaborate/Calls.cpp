//===- Calls.cpp - Functions, blocks and instances --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Arguments.h"
#include "frontend/elaborate/Builtins.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/foreign/Foreign.h"
#include "runtime/base/NearestName.h"

#include "llvm/ADT/ScopeExit.h"

#include <utility>

namespace weir::elab {

/// Calls nest no deeper; a block that calls itself never ends, since conditions are static.
constexpr unsigned maxDepth = 64;

static bool ownsVariables(ast::CallableKind kind) {
  return kind == ast::CallableKind::block || kind == ast::CallableKind::model;
}

std::vector<std::string> Elaborator::visibleCallables() {
  std::vector<std::string> names;
  if (diagnostics.full())
    return names;
  for (const Scope *scope = current->scope; scope; scope = scope->outer)
    for (const auto &[name, binding] : scope->names)
      if (binding.value.get<std::shared_ptr<Instance>>())
        names.push_back(name);
  auto add = [&](const std::map<std::string, const ast::CallableItem *> &callables) {
    for (const auto &[name, callable] : callables)
      if (callable->callableKind != ast::CallableKind::optimizer) // stands in `update` only
        names.push_back(name);
  };
  if (!current->file->prelude)
    add(modelFile.callables);
  add(preludeCallables);
  for (const std::string &name : builtinNames())
    names.push_back(name);
  return names;
}

std::vector<CallArgument>
Elaborator::evaluateArguments(const std::vector<ast::Argument> &arguments) {
  std::vector<CallArgument> result;
  for (const ast::Argument &argument : arguments) {
    Value value = evaluate(*argument.value);
    if (value.members()) {
      error(argument.value->range, "an argument is one value, not " + value.describe());
      value = Value();
    }
    result.push_back(
        {argument.name, std::move(value), argument.value->range, configOf(*argument.value)});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

std::optional<ModelPath> Elaborator::resolvePath(const std::optional<ast::Path> &path,
                                                 const std::string &fallback) {
  std::string text = fallback;
  if (path) {
    text.clear();
    for (const ast::Path::Component &component : path->components) {
      text += (text.empty() ? "" : ".") + component.name.text;
      for (const ast::ExprPtr &index : component.indices) {
        auto number = evaluateInt(*index, "an index in a path");
        if (!number)
          return std::nullopt;
        if (*number < 0) {
          error(index->range,
                "an index in a path is not negative, but this is " + std::to_string(*number));
          return std::nullopt;
        }
        text += "." + std::to_string(*number);
      }
    }
  }
  return current->instance->path.inner(text);
}

void Elaborator::reportTaken(const std::string &path, Range range, const std::string &name,
                             Range other) {
  if (path.empty() && !current->callable && other.text() != name) {
    error(range, "`" + std::string(other.text()) + "` and `" + name +
                     "` both keep their parameters at the root")
        .note(other, "the other one")
        .help("name one of them with `as`: `" + name + "(…) as head`");
    return;
  }
  if (path.empty() && !current->callable) {
    error(range, "`" + name + "` is called twice")
        .note(other, "the other one")
        .help("call it once and bind the result; for calls that share parameters, write a model "
              "that names the instance with `let`");
    return;
  }
  std::string place = path.empty() ? "the root of the parameters" : "the path `" + path + "`";
  Diagnostic &report = error(range, "`" + name + "` is at " + place + ", where another is already");
  if (other == range) {
    report.help("in a loop the path needs the loop's variable: `as h[i]`");
    return;
  }
  report.note(other, "the other one");
  report.help(path.empty() ? "name this one with `as`" : "name one of them with `as`");
}

std::shared_ptr<Instance> Elaborator::instantiate(const ast::CallableItem &callable,
                                                  const std::optional<ast::Path> &path,
                                                  Range range) {
  const std::string &name = callable.name.text;
  if (current->callable && !ownsVariables(current->callable->callableKind)) {
    const char *kind =
        current->callable->callableKind == ast::CallableKind::function ? "a fn" : "an optimizer";
    error(range, std::string(kind) + " may not use a block: `" + current->callable->name.text +
                     "` is " + kind + ", `" + name + "` may own parameters")
        .note(current->callable->name.range, "declared here")
        .help(std::string("make `") + current->callable->name.text + "` a block");
    return nullptr;
  }
  auto full = resolvePath(path, callable.callableKind == ast::CallableKind::model ? "" : name);
  if (!full)
    return nullptr;
  auto [place, isNew] = entry()->paths.try_emplace(full->symbol);
  PathClaim &claim = place->second;
  // Made before by the same instance, but not in this run through its body.
  bool kept = !isNew && claim.owner == current->instance && claim.execution != current->execution &&
              claim.instance->callable == &callable;
  if (kept) {
    claim.instance->range = range;
    claim.instance->options.clear();
  }
  auto instance = kept ? claim.instance
                       : std::make_shared<Instance>(Instance{&callable, *full, range, {}, false});
  if (isNew || kept) {
    claim = {current->instance, range, instance, current->execution};
    return instance;
  }
  // A second one at the same path is reported, and checked all the same.
  // What is wrong in it is wrong in the other too, with the same path: it is told of once.
  reportTaken(full->path, range, name, claim.range);
  instance->path.symbol += "'" + std::to_string(++misplaced); // no name has a quote
  return instance;
}

Range Elaborator::repeatedCall() {
  Range range;
  for (const Frame *frame = current; frame; frame = frame->caller)
    if (frame->again)
      range = frame->callSite;
  return range;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static bool isInProgress(const Frame *frame, const ast::CallableItem *callable) {
  for (; frame; frame = frame->caller)
    if (frame->callable == callable)
      return true;
  return false;
}

void Elaborator::reportRecursion(const ast::CallableItem &callable, Range range,
                                 const std::string &message) {
  // From the call at fault back to the one that began it; each note is a call in between.
  std::vector<const Frame *> chain;
  if (isInProgress(current, &callable))
    for (const Frame *frame = current; frame->callable != &callable; frame = frame->caller)
      chain.push_back(frame);
  Diagnostic &report = stop(range, message);
  for (const Frame *frame : llvm::reverse(chain))
    report.note(frame->callSite, "which calls `" + frame->callable->name.text + "` here");
}

/// `x.sum()`, `torch.sum(x)`, `reshape(x, 2)`, `tahn(x)`.
void Elaborator::reportUnknownCall(const ast::CallExpr &expr) {
  const std::string &name = expr.callee.text;
  const ForeignName *foreign = foreignName(Foreign::call, name);
  size_t dot = name.rfind('.');
  std::string base = dot == std::string::npos ? "" : name.substr(0, dot);
  std::string last = name.substr(dot + 1); // npos + 1 is 0
  bool known = dot != std::string::npos && (findCallable(last) || findBuiltin(last));
  bool method = !base.empty() && isValue(base);
  Diagnostic &report =
      unknown(expr.callee.range, method ? "tensors have no methods, such as `." + last + "`"
                                        : "unknown function or block `" + name + "`");
  if (known && method)
    report.help("write `" + last + "(" + base + (expr.arguments.empty() ? ")`" : ", …)`"));
  else if (known)
    report.help("write `" + last + "(…)`");
  else if (foreign)
    report.help(foreign->help());
  else
    report.suggest(nearestName(name, visibleCallables()));
}

Value Elaborator::call(const ast::CallExpr &expr) {
  const std::string &name = expr.callee.text;
  Binding *binding = current->scope->find(name);
  if (binding && binding->value.get<std::shared_ptr<Instance>>()) {
    auto instance = *binding->value.get<std::shared_ptr<Instance>>();
    std::vector<CallArgument> arguments = evaluateArguments(expr.arguments);
    if (expr.path)
      error(expr.path->range, "`" + name + "` is an instance and has its path already")
          .note(instance->range, "made here");
    arguments.insert(arguments.end(), instance->options.begin(), instance->options.end());
    return callCallable(*instance->callable, instance, std::move(arguments), expr.range);
  }
  const ast::CallableItem *callable = findCallable(name);
  const Builtin *builtin = callable ? nullptr : findBuiltin(name);
  if (!callable && !builtin) {
    evaluateArguments(expr.arguments); // for what else is wrong
    if (binding && binding->value.isPoison())
      return {};
    if (binding)
      error(expr.callee.range,
            "`" + name + "` is " + binding->value.describe() + " and cannot be called")
          .note(binding->range, "bound here");
    else
      reportUnknownCall(expr);
    return {};
  }
  bool owns = callable && ownsVariables(callable->callableKind);
  if (expr.path && !owns) {
    error(expr.path->range,
          "`as` names an instance of a block, and `" + name + "` owns no parameters");
    return {};
  }
  if (builtin)
    return callBuiltin(*builtin, expr);
  std::vector<CallArgument> arguments = evaluateArguments(expr.arguments);
  if (callable->callableKind == ast::CallableKind::optimizer) {
    error(expr.callee.range, "`" + name + "` is an optimizer; it stands in `update` only");
    return {};
  }
  if (!entry() && owns) {
    error(expr.callee.range, "a config or const cannot use the block `" + name + "`");
    return {};
  }
  std::shared_ptr<Instance> instance = current->instance;
  if (callable->callableKind == ast::CallableKind::model && isInProgress(current, callable)) {
    reportRecursion(*callable, expr.callee.range, "the model `" + name + "` calls itself");
    return {};
  }
  if (owns) {
    instance = instantiate(*callable, expr.path, expr.callee.range);
    if (!instance)
      return {};
  }
  return callCallable(*callable, instance, std::move(arguments), expr.range);
}

/// Known without the dimensions, so that dimensions may depend on it.
static bool isSimple(const ast::Expr &expr) {
  if (const auto *unary = llvm::dyn_cast<ast::UnaryExpr>(&expr))
    return isSimple(*unary->operand);
  return llvm::isa<ast::IntegerExpr, ast::FloatingExpr, ast::BooleanExpr, ast::StringExpr>(expr);
}

static bool isTensor(const ast::Parameter &parameter) {
  return parameter.type && llvm::isa<ast::TensorType>(parameter.type.get());
}

Value Elaborator::callCallable(const ast::CallableItem &callable,
                               std::shared_ptr<Instance> instance,
                               std::vector<CallArgument> arguments, Range range,
                               OptimizerTarget *target) {
  if (stopped)
    return {};
  if (current->depth >= maxDepth) {
    // What calls itself is among the calls in progress; this one may only be the last of them.
    for (const Frame *frame = current; frame->callable && !isInProgress(current, &callable);
         frame = frame->caller)
      if (isInProgress(frame->caller, frame->callable)) {
        reportRecursion(*frame->callable, frame->callSite,
                        "calls nest more than " + std::to_string(maxDepth) + " deep: `" +
                            frame->callable->name.text + "` seems to call itself");
        return {};
      }
    reportRecursion(callable, range,
                    "calls nest more than " + std::to_string(maxDepth) + " deep: `" +
                        callable.name.text + "` seems to call itself");
    return {};
  }
  std::vector<const CallArgument *> slots;
  bool assigned =
      assignArguments(*this, signatureOf(callable, target ? 2 : 0), arguments, range, slots);
  if (assigned)
    called.insert(&callable);

  Frame frame;
  Scope scope;
  frame.caller = current;
  frame.callable = &callable;
  frame.file = fileOf(callable);
  frame.instance = std::move(instance);
  frame.callSite = range;
  frame.scope = &scope;
  frame.target = target;
  frame.depth = current->depth + 1;
  frame.execution = ++executions;
  if (ownsVariables(callable.callableKind))
    frame.again = std::exchange(frame.instance->called, true);
  current = &frame;
  collectDimensions(callable);

  if (entry() && callable.callableKind == ast::CallableKind::model && !entry()->model) {
    entry()->model = &callable;
    entry()->modelInstance = frame.instance;
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i]) {
        CallArgument argument = *slots[i];
        argument.name = callable.parameters[i].name;
        entry()->modelArguments.push_back(std::move(argument));
      }
  } else if (callable.callableKind == ast::CallableKind::model) {
    warnSecondModel(callable, range);
  }

  // Numbers first, since dimensions may depend on them; then tensors, once all of them have said
  // what the names of their dimensions are; then the defaults that may depend on dimensions.
  auto bindParameter = [&](size_t i, CallArgument argument) {
    const ast::Parameter &parameter = callable.parameters[i];
    Value value = matchParameter(parameter, argument);
    scope.names[parameter.name.text] =
        Binding{std::move(value), parameter.name.range, argument.config, {}, false};
  };
  auto bindGiven = [&] {
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i] && isTensor(callable.parameters[i]) &&
          !bindDimensions(callable.parameters[i], *slots[i]))
        bindParameter(i, *slots[i]); // what is wrong with it is said before what follows from it
  };
  auto isBound = [&](size_t i) { return scope.names.count(callable.parameters[i].name.text) != 0; };
  for (int pass = 0; pass < 3; ++pass) {
    if (pass == 1)
      bindGiven();
    for (size_t i = 0; i < slots.size(); ++i) {
      const ast::Parameter &parameter = callable.parameters[i];
      if (isBound(i))
        continue;
      if (slots[i] && (pass == 1 || !isTensor(parameter))) {
        bindParameter(i, *slots[i]);
      } else if (!slots[i] && !parameter.defaultValue) {
        current->faulty = true;
        if (pass == 2)
          scope.names[parameter.name.text] = Binding{Value(), parameter.name.range, {}, {}, false};
      } else if (!slots[i] && (pass == 2 || isSimple(*parameter.defaultValue))) {
        Value value = evaluate(*parameter.defaultValue);
        bindParameter(i, {parameter.name, std::move(value), parameter.defaultValue->range, {}});
      }
    }
  }
  // What calls itself is not followed where nobody knows whether it ends.
  bool unknown = llvm::any_of(
      arguments, [](const CallArgument &argument) { return argument.value.isPoison(); });
  for (const Frame *outer = frame.caller; outer; outer = outer->caller)
    unknown |= outer->undecided;
  warnSchedule(callable, range);
  warnLossCall(callable, range);
  if (!assigned) // whatever the body would say is a consequence of that
    frame.returned = frame.refused = true;
  else if (unknown && isInProgress(frame.caller, &callable))
    frame.undecided = true;
  else
    execute(callable.body);

  Value result = frame.result;
  if (!frame.returned && frame.undecided)
    result = Value();
  else if (!frame.returned && !callable.results.empty())
    error(callable.name.range,
          "`" + callable.name.text + "` declares a result, but no `return` is reached");
  else if (!callable.results.empty() && !frame.refused)
    result = matchResults(callable, std::move(result));
  else if (!frame.returned)
    result = Value::tuple({});
  if (result.isPoison())
    result = recover(callable, range);
  if (const Tensor *tensor = result.get<Tensor>(); tensor && entry() && frame.file->prelude)
    entry()->madeBy[tensor->value] = &callable;
  current = frame.caller;
  return result;
}

/// The caller knows its dimensions by its own names.
void Elaborator::restoreNames(Value &value) {
  const auto *tensor = value.get<Tensor>();
  if (!tensor)
    return;
  Tensor renamed = *tensor;
  for (Dim &dim : renamed.dims) {
    auto fromCaller = [&](const Dim &other) {
      return other.name == dim.name && other.size == dim.size;
    };
    if (current->ellipsis && llvm::any_of(*current->ellipsis, fromCaller))
      continue;
    auto original = current->callerDims.find(dim.name);
    if (original != current->callerDims.end()) {
      dim = original->second;
    } else if (current->file->prelude || !modelFile.globals.names.count(dim.name)) {
      std::string config = dim.config;
      dim = unnamed(dim.size);
      dim.config = config;
      dim.name = config;
    }
  }
  value = renamed;
}

Value Elaborator::matchResults(const ast::CallableItem &callable, Value result) {
  if (result.isPoison())
    return {};
  const std::string name = "the result of `" + callable.name.text + "`";
  std::vector<Value> values = result.members() ? *result.members() : std::vector<Value>{result};
  if (values.size() != callable.results.size()) {
    error(current->resultRanges.front(),
          "`" + callable.name.text + "` declares " + std::to_string(callable.results.size()) +
              (callable.results.size() == 1 ? " result" : " results") + ", but returns " +
              std::to_string(values.size()));
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = matchType(
        *callable.results[i], values[i],
        current->resultRanges[current->resultRanges.size() == values.size() ? i : 0], name, "",
        /*binds=*/false);
  for (Value &value : values)
    restoreNames(value);
  if (values.size() == 1)
    return values.front();
  for (const Value &value : values)
    if (value.isPoison())
      return {};
  return Value::tuple(std::move(values));
}

Value Elaborator::recover(const ast::CallableItem &callable, Range range) {
  // That a refused call's result has no shape is a consequence.
  bool wasStopped = std::exchange(stopped, stopped || current->refused);
  llvm::scope_exit restore([&] { stopped = wasStopped; });
  std::vector<Value> values;
  for (const ast::TypePtr &type : callable.results) {
    const auto *tensor = llvm::dyn_cast<ast::TensorType>(type.get());
    auto dims = tensor && entry() ? evaluateDims(*tensor) : std::nullopt;
    if (!dims || element(tensor->element).isInteger(8))
      return {};
    values.push_back(constant(0, element(tensor->element), *dims, range));
  }
  if (values.empty())
    return {};
  for (Value &value : values)
    restoreNames(value);
  return values.size() == 1 ? values.front() : Value::tuple(std::move(values));
}

} // namespace weir::elab
