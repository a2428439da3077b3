//===- OptionRanges.h - Valid ranges of options ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_OPTIONRANGES_H
#define WEIR_RUNTIME_RUN_OPTIONRANGES_H

#include "runtime/report/Ending.h"
#include "support/Text.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>

namespace weir {

/// Unlike CLI11's own validators, these add nothing to the option's name in the help.
template <typename Number, typename... Format>
bool isWithin(const std::string &text, Number &value, Number least, Number most, Format... format) {
  const char *end = text.data() + text.size();
  auto [rest, fault] = std::from_chars(text.data(), end, value, format...);
  return fault == std::errc() && rest == end && value >= least && value <= most;
}

/// Whether `text` is an integer above `most`, however long.
inline bool isAbove(const std::string &text, int64_t most) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [rest, fault] = std::from_chars(text.data(), end, value);
  return rest == end && (fault == std::errc::result_out_of_range ? text[0] != '-' : value > most);
}

/// An integer in [least, most], in decimal digits: CLI11 itself would read 010 as 8. Every integer
/// option has this as its transform(). The message names only the limit that was exceeded, because
/// the other often depends on the machine.
inline CLI::Validator integerWithin(int64_t least, int64_t most) {
  return CLI::Validator(
      [=](std::string &text) {
        int64_t value = 0;
        if (!isWithin(text, value, least, most))
          return concat("expected a whole number of ",
                        isAbove(text, most) ? concat("at most ", most) : concat(least, " or more"),
                        ", found '", text, "'");
        text = std::to_string(value);
        return std::string();
      },
      "");
}

/// A decimal number in [least, most], not NaN.
inline CLI::Validator within(double least, double most, const char *wanted) {
  return CLI::Validator(
      [=](std::string &text) {
        double value = 0;
        return isWithin(text, value, least, most, std::chars_format::general)
                   ? std::string()
                   : concat("expected ", wanted, ", found '", text, "'");
      },
      "");
}

/// For an option that names a file to write in the format of `ending`, such as ".npy": sets the
/// name of the value in the help, and warns if the file has another extension.
inline CLI::Option *writesFile(CLI::Option *option, const std::string &ending) {
  return option->type_name("FILE" + ending)->each(warnsOfEnding(option->get_name(), ending));
}

/// Checks that a path is not "-": this output cannot go to standard output.
inline CLI::Validator isNotStandardOutput() {
  return CLI::Validator(
      [](std::string &path) {
        return path == "-" ? "expected a file, found '-': Weir cannot write this to standard output"
                           : std::string();
      },
      "");
}

} // namespace weir

#endif
