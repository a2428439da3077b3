//===- PlanFileOptions.h - --plan and what it stands for --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PLANFILEOPTIONS_H
#define WEIR_TOOLS_WEIR_PLANFILEOPTIONS_H

#include "planner/Choice.h"
#include "tools/weir/Compile.h"

namespace weir {

/// Sets what a choice says.
void setChoice(const planner::Choice &choice, CompileOptions &options);

/// An option that is given and says what is chosen with a mesh; null where there is none.
const char *decidedBeside(const CompileOptions &options);

/// Reads a plan's file. Throws Failure{Exit::usage} that says where it is wrong.
planner::PlanFile readPlan(const std::string &path);

/// Reads the file of --plan, if one is given, and sets what it says. Throws Failure{Exit::usage}
/// where the file is wrong, or another option says the same.
void readPlanFile(CompileOptions &options);

} // namespace weir

#endif
