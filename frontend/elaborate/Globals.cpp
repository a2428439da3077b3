//===- Globals.cpp - Configs, consts and requirements ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Globals.h"

#include "support/NearestName.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace weir::elab {

//===----------------------------------------------------------------------===//
// Names and options
//===----------------------------------------------------------------------===//

/// No two configs, consts and callables of the file share a name with another of their kind, nor
/// two arguments of one callable.
void Globals::checkNames() {
  std::map<std::string, Range> values, callables;
  auto claim = [&](std::map<std::string, Range> &names, const ast::Identifier &name) {
    auto [place, isNew] = names.try_emplace(name.text, name.range);
    if (!isNew)
      reporter.error(name.range, "`" + name.text + "` is declared twice")
          .note(place->second, "declared here");
  };
  for (const ast::ItemPtr &item : file.module->items) {
    if (const auto *config = llvm::dyn_cast<ast::ConfigItem>(item.get()))
      for (const ast::NamedValue &entry : config->entries)
        claim(values, entry.name);
    else if (const auto *constants = llvm::dyn_cast<ast::ConstItem>(item.get()))
      for (const ast::NamedValue &entry : constants->entries)
        claim(values, entry.name);
    else if (const auto *callable = llvm::dyn_cast<ast::CallableItem>(item.get())) {
      claim(callables, callable->name);
      std::map<std::string, Range> arguments;
      for (const ast::Parameter &parameter : callable->parameters)
        claim(arguments, parameter.name);
    }
  }
}

/// The text of a `--set` as a value of the config's kind; false, reported, where it is none.
bool Globals::overrideConfig(const std::string &text, Value &value, const std::string &name) {
  llvm::StringRef written = llvm::StringRef(text).trim();
  const char *wanted = "a text";
  int64_t number;
  double real;
  if (value.get<int64_t>()) {
    if (!written.getAsInteger(10, number)) {
      value = number;
      return true;
    }
    llvm::StringRef digits = written;
    digits.consume_front("-");
    bool whole = !digits.empty() && llvm::all_of(digits, llvm::isDigit);
    wanted = whole ? "an int from -9223372036854775808 to 9223372036854775807" : "an int";
  } else if (value.get<double>()) {
    if (!written.empty() && !written.getAsDouble(real) && std::isfinite(real)) {
      value = real;
      return true;
    }
    wanted = "a finite number";
  } else if (value.get<bool>()) {
    if (written == "true" || written == "false") {
      value = written == "true";
      return true;
    }
    wanted = "`true` or `false`";
  } else {
    value = text;
    return true;
  }
  reporter.diagnostics.error({}, "--set " + name + "=" + text + ": `" + name + "` wants " + wanted +
                                     "; the model's value is " + value.describe());
  return false;
}

static std::string textOf(const Value &value) {
  if (const auto *number = value.get<int64_t>())
    return std::to_string(*number);
  if (const auto *number = value.get<double>())
    return describe(*number);
  if (const auto *truth = value.get<bool>())
    return *truth ? "true" : "false";
  const auto *text = value.get<std::string>();
  return text ? *text : "";
}

/// Whether every `--set` names a config. Reported if not.
bool Globals::checkSets(const std::map<std::string, std::string> &sets) {
  std::vector<std::string> configs;
  for (const ast::ItemPtr &item : file.module->items)
    if (const auto *config = llvm::dyn_cast<ast::ConfigItem>(item.get()))
      for (const ast::NamedValue &entry : config->entries)
        configs.push_back(entry.name.text);
  bool known = true;
  for (const auto &[name, text] : sets) {
    if (llvm::is_contained(configs, name))
      continue;
    Diagnostic &report = reporter.diagnostics.error(
        {}, "--set " + name + "=" + text + ": the model has no config `" + name + "`");
    if (auto meant = nearestName(name, configs))
      report.suggest(meant);
    else if (!configs.empty())
      report.help("its configs are " + llvm::join(configs, ", "));
    reporter.wrong = ElaborateResult::Wrong::options;
    known = false;
  }
  return known;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Value Globals::evaluateStatic(const ast::NamedValue &entry, const char *what) {
  Value value = evaluator.evaluate(*entry.value);
  if (value.isPoison() || value.isStatic())
    return value;
  reporter.error(entry.value->range, std::string("a ") + what +
                                         " must be known when compiling, but this is " +
                                         value.describe());
  return {};
}

/// `set` is the text of its `--set`; null where there is none.
void Globals::evaluateConfig(const ast::NamedValue &entry, const std::string *set) {
  const std::string &name = entry.name.text;
  Value value = evaluateStatic(entry, "config");
  if (!value.isPoison() && !value.isNumber() && !value.get<bool>() && !value.get<std::string>()) {
    reporter.error(entry.value->range,
                   "a config is a number, a truth value or a text, not " + value.describe());
    value = Value();
  }
  if (set && !value.isPoison() && !overrideConfig(*set, value, name))
    reporter.wrong = ElaborateResult::Wrong::options;
  configTexts[name] = textOf(value);
  file.globals.names[name] =
      Binding{value, entry.name.range, name, "the config `" + name + "`", false};
}

bool Globals::evaluate(const std::map<std::string, std::string> &sets) {
  checkNames();
  if (!checkSets(sets))
    return false;
  for (const ast::ItemPtr &item : file.module->items) {
    if (const auto *config = llvm::dyn_cast<ast::ConfigItem>(item.get())) {
      for (const ast::NamedValue &entry : config->entries) {
        auto set = sets.find(entry.name.text);
        evaluateConfig(entry, set == sets.end() ? nullptr : &set->second);
      }
    } else if (const auto *constants = llvm::dyn_cast<ast::ConstItem>(item.get())) {
      for (const ast::NamedValue &entry : constants->entries) {
        const std::string &name = entry.name.text;
        Value value = evaluateStatic(entry, "const");
        file.globals.names[name] =
            Binding{value, entry.name.range, evaluator.calls->configOf(*entry.value),
                    "the const `" + name + "`", false};
      }
    }
  }
  bool holdAll = true;
  for (const ast::ItemPtr &item : file.module->items)
    if (const auto *require = llvm::dyn_cast<ast::RequireItem>(item.get()))
      holdAll &= requirementHolds(require->requirement, evaluator);
  return holdAll;
}

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

/// ", where `heads` is 3 and `width` is 8": what is known of the names in an expression.
static std::string valuesIn(Evaluator &evaluator, const ast::Expr &expr) {
  std::map<std::string, std::string> values;
  ast::visitNames(expr, [&](const ast::NameExpr &name) {
    Value value = evaluator.evaluate(name);
    if (value.isNumber())
      values[name.name] =
          value.get<int64_t>() ? std::to_string(*value.get<int64_t>()) : describe(value.number());
    else if (value.isStatic())
      values[name.name] = value.describe();
  });
  std::string text;
  for (const auto &[name, value] : values)
    text += (text.empty() ? ", where `" : " and `") + name + "` is " + value;
  return text;
}

bool requirementHolds(const ast::Requirement &requirement, Evaluator &evaluator) {
  CallStack &calls = evaluator.calls;
  const ast::Expr &condition = *requirement.condition;
  auto holds = evaluator.evaluateCondition(condition, "a requirement");
  if (!holds || *holds)
    return true;
  std::string text =
      " requires `" + std::string(condition.range.text()) + "`: " + requirement.message;
  std::string values = valuesIn(evaluator, condition);
  if (!calls->callable) {
    evaluator.reporter.error(condition.range, "the model" + text + values);
    return false;
  }
  Frame *call = calls.get();
  calls = call->caller;
  evaluator.reporter.error(call->callSite, "`" + call->callable->name.text + "`" + text)
      .note(condition.range, "required here" + values);
  calls = call;
  return false;
}

} // namespace weir::elab
