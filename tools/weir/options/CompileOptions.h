//===- CompileOptions.h - What is said of a compilation -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPTIONS_COMPILEOPTIONS_H
#define WEIR_TOOLS_WEIR_OPTIONS_COMPILEOPTIONS_H

#include "tools/weir/commands/Compile.h"
#include <CLI/CLI.hpp>

namespace weir {

/// Options of the model that are more than they are written as.
struct ModelWords {
  std::vector<std::string> sets, warnings;
};

/// The model, its configs and warnings.
void addModelOptions(CLI::App &app, CompileOptions &options, ModelWords &words);

/// What addModelOptions adds. Throws Failure{Exit::usage}, for a config that is given twice
/// too.
void readModelOptions(const ModelWords &words, CompileOptions &options);

/// What the model is compiled for, and how.
void addTargetOptions(CLI::App &app, CompileOptions &options);

/// Throws Failure{Exit::usage} for what only options together can say.
void checkTargetOptions(const CompileOptions &options);

} // namespace weir

#endif
