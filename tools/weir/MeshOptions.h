//===- MeshOptions.h - Several devices on the command line ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_MESHOPTIONS_H
#define WEIR_TOOLS_WEIR_MESHOPTIONS_H

#include "tools/weir/Compile.h"
#include "tools/weir/PlanModel.h"
#include <CLI/CLI.hpp>

namespace weir {

/// "", or why it is no link (runtime/base/Link.h).
std::string isLink(const std::string &text);

/// Adds --mesh, --zero and --schedule.
void addLayoutOptions(CLI::App &app, CompileOptions &options);

/// Adds what ranks exchange as what, and when.
void addExchangeOptions(CLI::App &app, CompileOptions &options);

/// --mesh, and how things are cut over it.
void addMeshOptions(CLI::App &app, CompileOptions &options);

/// Throws Failure{Exit::usage} where they do not go together, or with other options.
void checkMeshOptions(const CompileOptions &options);

/// The same of options that are as a plan's file says, which is named.
void checkPlan(const CompileOptions &options, const std::string &file);

/// Throws Failure{Exit::usage} where options of weir plan do not go together, nor what its plans'
/// files say.
void checkPlanned(const CompileOptions &options, const PlanModelOptions &plan);

/// Throws Failure{Exit::usage} where there are several, which `what` takes one of.
void requireOneMesh(const CompileOptions &options, const std::string &what);

} // namespace weir

#endif
