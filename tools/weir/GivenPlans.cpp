//===- GivenPlans.cpp - Plans that weir plan is asked about ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/GivenPlans.h"
#include "runtime/base/Mesh.h"
#include "runtime/base/Text.h"
#include "tools/weir/PlanFileOptions.h"

namespace weir {

std::vector<planner::Choice> readGivenPlans(const CompileOptions &options,
                                            const std::vector<std::string> &files,
                                            const planner::Cluster &cluster) {
  const char *given = !options.mesh.empty() ? "--mesh" : decidedBeside(options);
  if (given && !files.empty())
    throw Failure(Exit::usage, concat(given, " and --plan: a plan says that already; leave one of "
                                             "the two out, or change the file"));
  std::vector<planner::Choice> choices;
  for (const std::string &path : files) {
    planner::PlanFile file = readPlan(path);
    const std::string &target = cluster.deviceOf(0).target;
    if (!file.target.empty() && file.target != target)
      throw Failure(Exit::usage,
                    concat("--plan ", path, " was made for ", file.target, ", and the devices of ",
                           cluster.name, " are for ", target, ": plan again, or change the file"));
    if (!file.precision.empty() && file.precision != options.precision)
      throw Failure(Exit::usage, concat("--plan ", path, " was made for ", file.precision,
                                        ": give --precision ", file.precision));
    if (int64_t ranks = std::get<Mesh>(Mesh::parse(file.choice.mesh)).ranks();
        ranks > cluster.devices())
      throw Failure(Exit::usage, concat("--plan ", path, " wants ", ranks, " devices, and ",
                                        cluster.name, " has ", cluster.devices()));
    choices.push_back(std::move(file.choice));
  }
  return choices;
}

} // namespace weir
