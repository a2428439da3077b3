//===- PlanFileOptions.h - Strategies that are read from plan files ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPTIONS_PLANFILEOPTIONS_H
#define WEIR_TOOLS_WEIR_OPTIONS_PLANFILEOPTIONS_H

#include "planner/PlanFile.h"
#include "tools/weir/commands/Compile.h"

namespace weir {

/// The option that is given and that a plan decides, "--zero"; "" where there is none. The mesh is
/// not looked at.
std::string decidedBeside(const CompileOptions &options);

/// Reads a plan's file. Throws Failure{Exit::usage} that says where it is wrong.
planner::PlanFile readPlan(const std::string &path);

/// Throws Failure{Exit::usage} where the command line says otherwise than a plan's file.
void requireNoConflict(const Strategy &said, const Strategy &planned, const std::string &path);

/// Sets what the file of --plan says, if one is given. Throws Failure{Exit::usage} where the file
/// is wrong, or an option says otherwise.
void takePlanFile(CompileOptions &options);

} // namespace weir

#endif
