//===- UpdateRules.cpp - Which optimizer updates which parameter ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/UpdateRules.h"
#include "frontend/elaborate/Arguments.h"
#include "support/NearestName.h"

namespace weir::elab {

//===----------------------------------------------------------------------===//
// Which rule takes which parameter
//===----------------------------------------------------------------------===//

bool UpdateRules::takesGradient(const ast::CallableItem &optimizer) {
  const auto &parameters = optimizer.parameters;
  if (parameters.size() >= 2 && !parameters[0].defaultValue && !parameters[1].defaultValue)
    return true;
  reporter
      .error(optimizer.name.range,
             "an optimizer's first two arguments are the parameter and its gradient")
      .help("write `optimizer " + optimizer.name.text + "(p, g, …)`");
  return false;
}

static bool hasNext(const ast::Body &body) {
  bool found = false;
  visit(body, [&](const ast::Stmt &stmt) { found |= llvm::isa<ast::NextStmt>(stmt); });
  return found;
}

const ast::UpdateEntry *UpdateRules::ruleOf(const Variable &parameter) {
  std::vector<std::pair<const char *, Value>> names = {
      {"rank", int64_t(parameter.dims.size())},
      {"size", int64_t(parameter.type.getNumElements())},
      {"name", parameter.path.path}};
  // After an error in the predicate the rule takes all, so that none is reported as left out.
  for (const ast::UpdateEntry *rule : recipe.updates)
    if (evaluator.holds(rule->where, names, /*otherwise=*/true))
      return rule;
  return nullptr;
}

std::vector<Trained> UpdateRules::trainedParameters() {
  std::vector<Trained> trained;
  bool known = true; // what the rules do
  for (auto &variable : variables) {
    if (variable->role != Role::parameter)
      continue;
    const ast::UpdateEntry *taken = ruleOf(*variable);
    const ast::CallableItem *optimizer =
        taken ? files.findCallable(taken->optimizer->callee.text, *evaluator.calls->file) : nullptr;
    known &= !taken || (optimizer && optimizer->callableKind == ast::CallableKind::optimizer &&
                        optimizer->parameters.size() >= 2);
    // An optimizer that changes nothing needs no gradient, and its parameters are not in the norm.
    if (optimizer && !hasNext(optimizer->body))
      continue;
    if (taken)
      trained.push_back({variable.get(), taken, nullptr});
    else if (!recipe.updates.empty())
      reporter
          .error(recipe.updates.back()->range,
                 "no `update` takes the parameter `" + variable->path.path + "`")
          .note(variable->range, "declared here")
          .help("a last line without `where` takes what is left; `update frozen()` keeps it as it "
                "is");
  }
  if (trained.empty() && known && !recipe.updates.empty() && !reporter.diagnostics.hasErrors())
    reporter.diagnostics
        .warning(recipe.item->keyword, Warning::nothingToTrain,
                 "there is nothing to train: the model has no parameters, or all are frozen")
        .help("`weir eval` and `weir predict` run it");
  return trained;
}

std::vector<const ast::UpdateEntry *> UpdateRules::unused() {
  std::set<const ast::UpdateEntry *> used;
  for (auto &variable : variables)
    if (variable->role == Role::parameter)
      used.insert(ruleOf(*variable));
  std::vector<const ast::UpdateEntry *> unused;
  for (const ast::UpdateEntry *rule : recipe.updates)
    if (!used.count(rule))
      unused.push_back(rule);
  return unused;
}

//===----------------------------------------------------------------------===//
// What a rule calls
//===----------------------------------------------------------------------===//

/// Null, reported, where the name is no optimizer's.
const ast::CallableItem *UpdateRules::findOptimizer(const ast::Identifier &name) {
  const FileScope &file = *evaluator.calls->file;
  const ast::CallableItem *callable = files.findCallable(name.text, file);
  if (callable && callable->callableKind == ast::CallableKind::optimizer)
    return takesGradient(*callable) ? callable : nullptr;
  std::vector<std::string> names;
  for (const ast::CallableItem *other : files.callablesSeen(file))
    if (other->callableKind == ast::CallableKind::optimizer)
      names.push_back(other->name.text);
  reporter
      .unknown(name.range, callable ? "`" + name.text + "` is no optimizer"
                                    : "unknown optimizer `" + name.text + "`")
      .suggest(nearestName(name.text, names));
  return nullptr;
}

UpdateRule UpdateRules::resolve(const ast::UpdateEntry &rule) {
  UpdateRule resolved;
  const ast::CallExpr &call = *rule.optimizer;
  resolved.optimizer = findOptimizer(call.callee);
  resolved.arguments = evaluator.evaluateArguments(call.arguments);
  if (!resolved.optimizer)
    return resolved;
  std::vector<CallArgument> all(2); // the parameter and its gradient
  llvm::append_range(all, resolved.arguments);
  std::vector<const CallArgument *> slots;
  if (!assignArguments(reporter, signatureOf(*resolved.optimizer, 2), all, call.range, slots)) {
    resolved.optimizer = nullptr;
    return resolved;
  }
  for (size_t i = 2; i < slots.size(); ++i)
    if (slots[i] && resolved.optimizer->parameters[i].name.text == "lr")
      resolved.learningRate = *slots[i];
  return resolved;
}

} // namespace weir::elab
