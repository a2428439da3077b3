//===- GivenPlans.cpp - Plans that weir plan is asked about ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/planning/GivenPlans.h"
#include "support/Text.h"
#include "tools/weir/options/PlanFileOptions.h"

namespace weir {

std::vector<Strategy> readGivenPlans(const CompileOptions &options,
                                     const std::vector<std::string> &files,
                                     const planner::Cluster &cluster) {
  std::vector<Strategy> strategies;
  for (const std::string &path : files) {
    planner::PlanFile file = readPlan(path);
    const std::string &target = cluster.deviceOf(0).target;
    if (!file.target.empty() && file.target != target)
      throw Failure(Exit::usage,
                    concat("--plan ", path, " was made for ", file.target, ", but the devices of ",
                           cluster.name, " are ", target, ": plan again, or edit the file"));
    const Strategy &planned = file.strategy;
    if (planned.precision.isGiven() && *planned.precision != *options.strategy.precision)
      throw Failure(Exit::usage,
                    concat("--plan ", path, " was made for ", nameOf(*planned.precision),
                           ": give --precision ", nameOf(*planned.precision)));
    if (int64_t ranks = planned.mesh.ranks(); ranks > cluster.devices())
      throw Failure(Exit::usage, concat("--plan ", path, " needs ", ranks, " devices, but ",
                                        cluster.name, " has ", cluster.devices()));
    requireNoConflict(options.strategy, planned, path);
    if (*planned.deterministic)
      throw Failure(Exit::usage, concat("--plan ", path,
                                        " is deterministic, which weir plan cannot "
                                        "predict yet: remove it"));
    strategies.push_back(planned);
  }
  return strategies;
}

} // namespace weir
