//===- Evaluator.cpp - What the parts ask of expressions ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Evaluator.h"

namespace weir::elab {

std::optional<int64_t> Evaluator::evaluateInt(const ast::Expr &expr, const std::string &what) {
  Value value = evaluate(expr);
  if (const auto *number = value.get<int64_t>())
    return *number;
  if (!value.isPoison())
    reporter.error(expr.range, what + " must be an int that is known when compiling, but is " +
                                   value.describe());
  return std::nullopt;
}

std::optional<bool> Evaluator::evaluateCondition(const ast::Expr &expr, const std::string &what) {
  Value value = evaluate(expr);
  if (const auto *truth = value.get<bool>())
    return *truth;
  if (value.isPoison())
    return std::nullopt;
  Diagnostic &report = reporter.error(
      expr.range,
      what + " must be a truth value that is known when compiling, but is " + value.describe());
  if (value.get<Tensor>())
    report.help("`select(condition, a, b)` chooses while the program runs");
  return std::nullopt;
}

std::vector<CallArgument>
Evaluator::evaluateArguments(const std::vector<ast::Argument> &arguments) {
  std::vector<CallArgument> result;
  for (const ast::Argument &argument : arguments) {
    Value value = evaluate(*argument.value);
    if (value.members()) {
      reporter.error(argument.value->range, "an argument is one value, not " + value.describe());
      value = Value();
    }
    result.push_back(
        {argument.name, std::move(value), argument.value->range, calls->configOf(*argument.value)});
  }
  return result;
}

bool Evaluator::holds(const ast::ExprPtr &where,
                      const std::vector<std::pair<const char *, Value>> &names, bool otherwise) {
  if (!where)
    return true;
  InnerScope scope(*calls);
  for (const auto &[name, value] : names)
    calls->bind({name, where->range}, value);
  return evaluateCondition(*where, "what stands after `where`").value_or(otherwise);
}

} // namespace weir::elab
