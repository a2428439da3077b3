//===- Sources.cpp - Files that commands read, and keep as they are -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/Sources.h"
#include "planner/machines/Cluster.h"
#include <filesystem>

namespace weir {

/// A cluster's file and those of its devices. A pipe is read once, and has nothing that could be
/// lost.
static void addCluster(const std::string &path, std::vector<NamedPath> &read) {
  read.push_back(namedByOption("--cluster", path));
  std::error_code unknown; // who reads it says what is wrong
  if (!std::filesystem::is_regular_file(path, unknown))
    return;
  for (const planner::DeviceGroup &group : planner::readCluster(path).groups)
    if (!group.file.empty())
      read.push_back(namedByOption("--cluster", group.file));
}

std::vector<NamedPath> readByCompiler(const CompileOptions &options) {
  std::vector<NamedPath> read = {namedByOption("MODEL", options.model)};
  if (!options.tuning.empty())
    read.push_back(namedByOption("--tuning", options.tuning));
  if (!options.plan.empty())
    read.push_back(namedByOption("--plan", options.plan));
  if (!options.cluster.empty())
    addCluster(options.cluster, read);
  return read;
}

std::vector<NamedPath> readByPlanner(const CompileOptions &options, const PlanModelOptions &plan) {
  std::vector<NamedPath> read = {namedByOption("MODEL", options.model)};
  addCluster(plan.cluster, read);
  for (const std::string &file : plan.plans)
    read.push_back(namedByOption("--plan", file));
  return read;
}

} // namespace weir
