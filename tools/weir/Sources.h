//===- Sources.h - Files that commands read, and keep as they are ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_SOURCES_H
#define WEIR_TOOLS_WEIR_SOURCES_H

#include "runtime/collectives/Consensus.h"
#include "runtime/run/resume/OverwriteCheck.h"
#include "tools/weir/commands/Compile.h"
#include "tools/weir/commands/PlanModel.h"

namespace weir {

/// What a compile reads, for checkOverwrites(): the model, and what options name. Throws as
/// planner::readCluster() where a cluster's file is none.
std::vector<NamedPath> readByCompiler(const CompileOptions &options);

/// The contents of what readByCompiler() names, for ranks to compare: one entry for each option,
/// and for the model. Ranks may have the same file at different paths.
std::vector<collectives::Given> sharedFiles(const std::vector<NamedPath> &read);

/// What `weir plan` reads.
std::vector<NamedPath> readByPlanner(const CompileOptions &options, const PlanModelOptions &plan);

} // namespace weir

#endif
