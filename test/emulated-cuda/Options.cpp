//===- Options.cpp - How the emulation runs -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Options.h"
#include <cstdio>
#include <cstdlib>

namespace weir::emulated {

static Options fromEnvironment() {
  auto text = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  Options options;
  options.checked = text("WEIR_EMULATED_MODE") != "plain";
  options.seed = std::strtoull(text("WEIR_EMULATED_SEED").c_str(), nullptr, 10);
  options.report = text("WEIR_EMULATED_REPORT");
  return options;
}

Options &options() {
  static Options options = fromEnvironment();
  return options;
}

void appendToReport(const std::string &line) {
  if (options().report.empty())
    return;
  if (std::FILE *file = std::fopen(options().report.c_str(), "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

Random &random() {
  static Random random(options().seed);
  return random;
}

} // namespace weir::emulated
