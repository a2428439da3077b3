//===- Within.h - Numbers that an option takes ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_WITHIN_H
#define WEIR_RUNTIME_RUN_WITHIN_H

#include "runtime/core/Text.h"
#include <CLI/CLI.hpp>

namespace weir {

/// A number in [least, most], which not-a-number is not; unlike CLI11's own it adds nothing to the
/// option's name in the help.
template <typename Number> CLI::Validator within(Number least, Number most, const char *wanted) {
  return CLI::Validator(
      [=](std::string &text) {
        Number value{};
        bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return good ? std::string() : concat("expected ", wanted, ", found '", text, "'");
      },
      "");
}

} // namespace weir

#endif
