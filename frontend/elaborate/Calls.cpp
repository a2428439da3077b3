//===- Calls.cpp - Calls of functions, blocks and models ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Arguments.h"
#include "frontend/elaborate/Builtins.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Parameters.h"
#include "frontend/foreign/Foreign.h"
#include "ir/weir/FormerNames.h"
#include "support/NearestName.h"

#include "llvm/ADT/ScopeExit.h"

#include <utility>

namespace weir::elab {

/// Calls nest no deeper; a block that calls itself never ends, since conditions are static.
constexpr unsigned maxDepth = 64;

std::vector<std::string> Elaborator::visibleCallables() {
  std::vector<std::string> names;
  if (diagnostics.full())
    return names;
  for (const Scope *scope = current->scope; scope; scope = scope->outer)
    for (const auto &[name, binding] : scope->names)
      if (binding.value.get<std::shared_ptr<Instance>>())
        names.push_back(name);
  for (const ast::CallableItem *callable : files.callablesSeen(*current->file))
    if (callable->callableKind != ast::CallableKind::optimizer) // stands in `update` only
      names.push_back(callable->name.text);
  for (const std::string &name : builtinNames())
    names.push_back(name);
  return names;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Reports a call that leads back to itself, with the calls in between, and stops.
void Elaborator::reportRecursion(const ast::CallableItem &callable, Range range,
                                 const std::string &message) {
  // From the call at fault back to the one that began it; each note is a call in between.
  std::vector<const Frame *> calls = current.callsSince(callable);
  Diagnostic &report = reporter.stop(range, message);
  for (const Frame *frame : llvm::reverse(calls))
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
  bool method = !base.empty() && current->isValue(base);
  Diagnostic &report = reporter.unknown(expr.callee.range,
                                        method ? "tensors have no methods, such as `." + last + "`"
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

const Builtin *Elaborator::findRenamed(const ast::Identifier &callee) {
  std::string now = presentNameOf(callee.text).str();
  const Builtin *builtin = findBuiltin(now);
  if (!builtin)
    return nullptr;
  Diagnostic &note = diagnostics.renamed(callee.range, callee.text, now);
  if (const ast::CallableItem *own = findCallable(now))
    note.note(own->name.range,
              "this hides the built-in `" + now + "`: rename it to call the latter");
  return builtin;
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
  if (!callable && !builtin)
    builtin = findRenamed(expr.callee);
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
  bool owns = ownsVariables(callable);
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
  if (callable->callableKind == ast::CallableKind::model && isInProgress(current.get(), callable)) {
    reportRecursion(*callable, expr.callee.range, "the model `" + name + "` calls itself");
    return {};
  }
  if (owns) {
    instance = instances.instantiate(*callable, expr.path, expr.callee.range, entry());
    if (!instance)
      return {};
  }
  return callCallable(*callable, instance, std::move(arguments), expr.range);
}

/// Reports the call that nests too deep, or the one among its callers that calls itself.
void Elaborator::reportDepth(const ast::CallableItem &callable, Range range) {
  auto report = [&](const ast::CallableItem &repeated, Range call) {
    reportRecursion(repeated, call,
                    "calls nest more than " + std::to_string(maxDepth) + " deep: `" +
                        repeated.name.text + "` seems to call itself");
  };
  // What calls itself is among the calls in progress; this one may only be the last of them.
  for (const Frame *frame = current.get();
       frame->callable && !isInProgress(current.get(), &callable); frame = frame->caller)
    if (isInProgress(frame->caller, frame->callable))
      return report(*frame->callable, frame->callSite);
  report(callable, range);
}

/// The entry's first model is what predict runs; others are warned of.
void Elaborator::noteModel(const ast::CallableItem &callable,
                           const std::vector<const CallArgument *> &slots) {
  if (callable.callableKind != ast::CallableKind::model)
    return;
  if (!entry() || entry()->model)
    return warnings.warnSecondModel(callable, current->callSite, entry());
  entry()->model = &callable;
  entry()->modelInstance = current->instance;
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i]) {
      CallArgument argument = *slots[i];
      argument.name = callable.parameters[i].name;
      entry()->modelArguments.push_back(std::move(argument));
    }
}

/// Walks the body of the innermost call. What calls itself is not followed where nobody knows
/// whether it ends.
void Elaborator::walkBody(const ast::CallableItem &callable,
                          const std::vector<CallArgument> &arguments) {
  bool unknown = llvm::any_of(
      arguments, [](const CallArgument &argument) { return argument.value.isPoison(); });
  for (const Frame *outer = current->caller; outer; outer = outer->caller)
    unknown |= outer->undecided;
  if (unknown && isInProgress(current->caller, &callable))
    current->undecided = true;
  else
    execute(callable.body);
}

/// What the innermost call returns, its body being walked.
Value Elaborator::resultOf(const ast::CallableItem &callable, Range range) {
  Frame &frame = *current;
  Value result = frame.result;
  if (!frame.returned && frame.undecided)
    result = Value();
  else if (!frame.returned && !callable.results.empty())
    error(callable.name.range,
          "`" + callable.name.text + "` declares a result, but no `return` is reached");
  else if (!callable.results.empty() && !frame.refused)
    result = types.matchResults(callable, std::move(result));
  else if (!frame.returned)
    result = Value::tuple({});
  if (result.isPoison())
    result = recover(callable, range);
  if (const Tensor *tensor = result.get<Tensor>(); tensor && entry() && frame.file->prelude)
    entry()->madeBy[tensor->value] = &callable;
  return result;
}

Value Elaborator::callCallable(const ast::CallableItem &callable,
                               std::shared_ptr<Instance> instance,
                               std::vector<CallArgument> arguments, Range range,
                               OptimizerTarget *target) {
  if (reporter.stopped)
    return {};
  if (current->depth >= maxDepth) {
    reportDepth(callable, range);
    return {};
  }
  std::vector<const CallArgument *> slots;
  bool assigned =
      assignArguments(reporter, signatureOf(callable, target ? 2 : 0), arguments, range, slots);
  if (assigned)
    called.insert(&callable);

  Frame frame;
  Scope scope;
  frame.caller = current.get();
  frame.callable = &callable;
  frame.file = &files.fileOf(callable);
  frame.instance = std::move(instance);
  frame.callSite = range;
  frame.scope = &scope;
  frame.target = target;
  frame.depth = current->depth + 1;
  frame.execution = ++executions;
  if (ownsVariables(&callable))
    frame.again = std::exchange(frame.instance->called, true);
  current = &frame;
  shapes.collectDimensions(callable);

  noteModel(callable, slots);
  bindParameters(slots, *this, shapes, types);
  warnings.warnSchedule(range);
  warnings.warnLossCall(callable, range, entry());
  if (assigned)
    walkBody(callable, arguments);
  else // whatever the body would say is a consequence of that
    frame.returned = frame.refused = true;
  Value result = resultOf(callable, range);
  current = frame.caller;
  return result;
}

/// A stand-in for the result of a call in which an error was reported, so that what follows is
/// still checked.
Value Elaborator::recover(const ast::CallableItem &callable, Range range) {
  // That a refused call's result has no shape is a consequence.
  bool wasStopped = std::exchange(reporter.stopped, reporter.stopped || current->refused);
  llvm::scope_exit restore([&] { reporter.stopped = wasStopped; });
  std::vector<Value> values;
  for (const ast::TypePtr &type : callable.results) {
    const auto *tensor = llvm::dyn_cast<ast::TensorType>(type.get());
    auto dims = tensor && entry() ? shapes.evaluateDims(*tensor) : std::nullopt;
    if (!dims || tensors.element(tensor->element).isInteger(8))
      return {};
    values.push_back(tensors.constant(0, tensors.element(tensor->element), *dims, range));
  }
  if (values.empty())
    return {};
  for (Value &value : values)
    shapes.restoreNames(value);
  return values.size() == 1 ? values.front() : Value::tuple(std::move(values));
}

} // namespace weir::elab
