//===- GivenPlans.h - Plans that weir plan is asked about ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PLANNING_GIVENPLANS_H
#define WEIR_TOOLS_WEIR_PLANNING_GIVENPLANS_H

#include "planner/machines/Cluster.h"
#include "strategy/Strategy.h"
#include "tools/weir/commands/Compile.h"

namespace weir {

/// Reads the plans' files. Throws Failure{Exit::usage} where one is wrong, was made for another
/// target or precision, or wants more devices than there are, and where another option says what
/// plans say.
std::vector<Strategy> readGivenPlans(const CompileOptions &options,
                                     const std::vector<std::string> &files,
                                     const planner::Cluster &cluster);

} // namespace weir

#endif
