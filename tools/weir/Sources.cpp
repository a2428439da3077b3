//===- Sources.cpp - Files that commands read, and keep as they are -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/Sources.h"
#include "planner/machines/Cluster.h"
#include "runtime/checkpoint/Fingerprint.h"
#include "runtime/data/MappedFile.h"
#include "support/Text.h"
#include <algorithm>
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

/// A pipe is read once, by the compiler. Who compiles says why a file cannot be read.
static std::string contentOf(const std::string &path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown))
    return "not a plain file";
  try {
    std::shared_ptr<const MappedFile> file = MappedFile::open(path, Exit::usage);
    return concat(file->bytes().size(), " bytes, content ", fingerprint(file->bytes()));
  } catch (const Failure &) {
    return "cannot be read";
  }
}

std::vector<collectives::Given> sharedFiles(const std::vector<NamedPath> &read) {
  std::vector<collectives::Given> all;
  for (const NamedPath &file : read) {
    const std::string option = file.words.substr(0, file.words.find(' '));
    const std::string content = contentOf(file.path);
    const std::string words = concat(file.path, " (", content, ")");
    auto found = std::ranges::find(all, option, &collectives::Given::name);
    if (found == all.end()) {
      all.push_back({option, content, words});
    } else { // a cluster's file of a device
      found->value += ", " + content;
      found->words += ", " + words;
    }
  }
  return all;
}

std::vector<NamedPath> readByPlanner(const CompileOptions &options, const PlanModelOptions &plan) {
  std::vector<NamedPath> read = {namedByOption("MODEL", options.model)};
  addCluster(plan.cluster, read);
  for (const std::string &file : plan.plans)
    read.push_back(namedByOption("--plan", file));
  return read;
}

} // namespace weir
