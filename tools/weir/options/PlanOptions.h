//===- PlanOptions.h - The options of weir plan ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPTIONS_PLANOPTIONS_H
#define WEIR_TOOLS_WEIR_OPTIONS_PLANOPTIONS_H

#include "tools/weir/commands/PlanModel.h"
#include <CLI/CLI.hpp>

namespace weir {

/// Adds those besides the model's own.
void addPlanOptions(CLI::App &app, CompileOptions &options, PlanModelOptions &plan);

/// Throws Failure{Exit::usage} where options do not go together, nor what the files of --plan say.
void checkPlanOptions(const CompileOptions &options, const PlanModelOptions &plan);

} // namespace weir

#endif
