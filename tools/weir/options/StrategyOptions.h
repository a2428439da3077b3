//===- StrategyOptions.h - The strategy on the command line --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPTIONS_STRATEGYOPTIONS_H
#define WEIR_TOOLS_WEIR_OPTIONS_STRATEGYOPTIONS_H

#include "strategy/Fields.h"
#include "strategy/Rules.h"
#include "tools/weir/commands/Compile.h"
#include <CLI/CLI.hpp>
#include <functional>

namespace weir {

/// Adds an option for each field of a strategy that `has` accepts.
void addStrategyOptions(CLI::App &app, CompileOptions &options,
                        const std::function<bool(const strategy::Field &)> &has);

/// The value of an option as its field prints it, so that equal values have equal texts: 1GB and
/// 1000MB. Returns `text` for any other option, and for a value that depends on the machine.
std::string canonicalValue(const std::string &option, const std::string &text);

/// What rules know of a compilation besides its strategy.
strategy::Context contextOf(const CompileOptions &options);

/// Throws Failure{Exit::usage} where the strategy breaks a rule. `file` is the plan that it was
/// read from; "": the command line.
void checkStrategy(const CompileOptions &options, const std::string &file = "");

/// Throws Failure{Exit::usage} where there are several meshes, which `what` takes one of.
void requireOneMesh(const CompileOptions &options, const std::string &what);

} // namespace weir

#endif
