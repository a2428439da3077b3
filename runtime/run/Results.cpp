//===- Results.cpp - The results of a run ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Results.h"
#include "support/Number.h"
#include "support/Text.h"
#include <cerrno>
#include <cstdio>
#include <iostream>

namespace weir {
namespace {

/// Of the figures: all others are averages.
bool isCount(const std::string &name) {
  return name == "step" || name == "steps" || name == "skipped_steps" ||
         name == "uncounted_steps" || name == "heldout_rows_left_out" || name == "peak_measured";
}

void print(const std::string &results) {
  errno = 0;
  std::cout << results << std::flush;
  if (std::cout || errno != EPIPE)
    return;
  std::cout.clear();
  std::clearerr(stdout);
  std::cerr << "standard output: its reader closed it; the results:\n" << results << std::flush;
}

} // namespace

std::string shownFigure(const std::string &name, double value, const char *format) {
  return formatted(isCount(name) ? "%.0f" : format, value);
}

void printResults(const Values &results, const RunOptions &options, double seconds,
                  const std::string &profile) {
  std::string text;
  if (options.json) {
    for (const auto &[name, value] : results)
      text += concat(text.empty() ? "{" : ",", "\"", name, "\":", jsonNumber(value));
    if (!profile.empty())
      text += concat(",\"profile\":", profile);
    text += concat(",\"seconds\":", jsonNumber(seconds), "}\n");
  } else {
    for (const auto &[name, value] : results)
      text += concat(name, " ", shownFigure(name, value, "%.6g"), "\n");
  }
  if (options.metrics == "-")
    std::cerr << text << std::flush;
  else
    print(text);
}

} // namespace weir
