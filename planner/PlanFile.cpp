//===- PlanFile.cpp - Reads and writes a strategy as a file ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/PlanFile.h"
#include "planner/machines/TomlTable.h"
#include "strategy/Fields.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include <algorithm>

namespace weir::planner {

using strategy::Field;

/// A key's value, in the form that strategy fields read: the items of a list, and nothing for a
/// default.
static std::vector<std::string> textsOf(TomlTable &table, const Field &field) {
  const std::string key(field.name);
  switch (field.form) {
  case Field::Form::integer: {
    // What is no number, the field refuses with its range. Without `microbatches`, the model's.
    const std::string number = table.described(key);
    return number == "0" && key == "microbatches" ? std::vector<std::string>()
                                                  : std::vector{number};
  }
  case Field::Form::truth: {
    const std::string text = strategy::textOf(table.truth(key, true));
    return text == field.standard ? std::vector<std::string>() : std::vector{text};
  }
  case Field::Form::list:
    return table.texts(key);
  default: {
    const std::string text = table.text(key);
    return text.empty() ? std::vector<std::string>() : std::vector{text};
  }
  }
}

PlanFile readPlanFile(const std::string &path) {
  TomlTable file = TomlTable::read(path), table = file.table("plan");
  if (!file.has("plan"))
    file.wrong("plan", "is missing: expected a table [plan], as `weir plan -o` writes it");
  PlanFile plan;
  plan.model = table.text("model", "");
  plan.target = table.text("target", "");
  for (const Field &field : strategy::fields())
    if (const std::string key(field.name); field.by != Field::By::compiler && table.has(key))
      for (const std::string &text : textsOf(table, field))
        if (std::string wrong = field.set(plan.strategy, text); !wrong.empty())
          table.wrong(key, wrong);
  table.requireAllRead();
  file.requireAllRead();
  return plan;
}

/// Whether TOML can represent it.
static bool isUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (decodeUtf8(text, at) < 0)
      return false;
  return true;
}

static std::string tomlOf(const Field &field, const std::vector<std::string> &texts) {
  switch (field.form) {
  case Field::Form::integer:
    return texts.front();
  case Field::Form::truth:
    return texts.front() == "on" ? "true" : "false";
  case Field::Form::list: {
    std::vector<std::string> all;
    for (const std::string &text : texts)
      all.push_back(quoted(text));
    return "[" + join(all) + "]";
  }
  default:
    return quoted(texts.front());
  }
}

std::string planFileText(const PlanFile &plan, const std::vector<std::string> &comments) {
  std::string out;
  for (std::string line : comments) {
    std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
    out += "# " + line + "\n";
  }
  out += "[plan]\n";
  if (!plan.model.empty() && isUtf8(plan.model)) // otherwise, TOML cannot represent its name
    out += "model = " + quoted(plan.model) + "\n";
  if (!plan.target.empty())
    out += "target = " + quoted(plan.target) + "\n";
  for (const Field &field : strategy::fields())
    if (field.by != Field::By::compiler && field.isGiven(plan.strategy))
      out += concat(field.name, " = ", tomlOf(field, field.texts(plan.strategy)), "\n");
  return out;
}

} // namespace weir::planner
