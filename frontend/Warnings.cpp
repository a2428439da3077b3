//===- Warnings.cpp -------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Warnings.h"

#include <iterator>

namespace weir {

/// In the order of the enum; docs/reference/language.md says what each is about.
static constexpr const char *names[] = {
    "unused-config",       "unused-definition",     "unused-argument",   "unused-binding",
    "unused-input",        "unused-state",          "unused-parameter",  "unused-update",
    "nothing-to-train",    "untrained-parameter",   "second-model",      "short-warmup",
    "large-learning-rate", "loss-of-probabilities", "labels-are-inputs", "commented-division",
};
static_assert(std::size(names) == size_t(Warning::commentedDivision) + 1);

const char *nameOf(Warning warning) { return names[static_cast<size_t>(warning)]; }

std::optional<Warning> warningNamed(std::string_view name) {
  for (size_t i = 0; i < std::size(names); ++i)
    if (name == names[i])
      return static_cast<Warning>(i);
  return std::nullopt;
}

std::vector<std::string> warningNames() { return {std::begin(names), std::end(names)}; }

} // namespace weir
