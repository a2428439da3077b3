//===- RenamedOptions.cpp - Options by the names that they had before ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/RenamedOptions.h"
#include "support/Text.h"
#include "support/precision/Precision.h"
#include <algorithm>

namespace weir {
namespace {

struct Renamed {
  std::string_view before, now;
  bool isOfPrecision; ///< it had no value, and has the type that --precision stores
};
constexpr Renamed renamed[] = {
    {"--master", "--param-dtype", false},
    {"--low-gradients", "--grad-reduce-dtype", true},
    {"--low-sums", "--tp-reduce-dtype", true},
    {"--every", "--checkpoint-every", false},
    {"--keep", "--keep-checkpoints", false},
    {"--lower", "--exact", false},
    {"--take", "--choose", false},
};

/// The type that the command line's --precision stores; bf16 where it says none, as with a plan.
std::string storedType(const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string text = words[i] == "--precision" && i + 1 < words.size() ? words[i + 1]
                       : words[i].starts_with("--precision=")            ? words[i].substr(12)
                                                                         : "";
    if (auto precision = precisionNamed(text); precision && isLow(rowOf(*precision).stored))
      return nameOf(rowOf(*precision).stored);
  }
  return nameOf(Element::bf16);
}

} // namespace

std::string nameNow(const std::string &option) {
  auto found = std::ranges::find(renamed, option, &Renamed::before);
  return found == std::end(renamed) ? "" : std::string(found->now);
}

RenamedOptions RenamedOptions::in(const CLI::App &app, int argc, const char *const *argv) {
  const std::vector<std::string> given(argv, argv + argc);
  const CLI::App *command = &app;
  for (const CLI::App *one : app.get_subcommands([](const CLI::App *) { return true; }))
    if (argc > 1 && one->get_name() == given[1])
      command = one;
  RenamedOptions result;
  bool optionsEnded = false;
  for (const std::string &word : given) {
    optionsEnded |= word == "--";
    const std::string name = word.substr(0, word.find('='));
    auto found = std::ranges::find(renamed, name, &Renamed::before);
    auto has = [&](std::string_view option) {
      return command->get_option_no_throw(std::string(option)) != nullptr;
    };
    if (optionsEnded || found == std::end(renamed) || has(name) || !has(found->now)) {
      result.words.push_back(word);
      continue;
    }
    const std::string rest = word.substr(name.size()); // "=500"
    std::string value;
    if (found->isOfPrecision) // "=false" is no low precision
      value = rest == "=false" ? std::string(nameOf(Element::f32)) : storedType(given);
    result.words.push_back(concat(found->now, value.empty() ? rest : ""));
    if (!value.empty())
      result.words.push_back(value);
    result.notes.push_back(concat(name, " is now ", found->now, value.empty() ? "" : " " + value));
  }
  return result;
}

} // namespace weir
