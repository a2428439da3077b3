//===- PlanFile.h - Reads and writes a strategy as a file -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_PLANFILE_H
#define WEIR_PLANNER_PLANFILE_H

#include "strategy/Strategy.h"
#include <string>
#include <vector>

namespace weir::planner {

/// A strategy, and what it was made for. The file contains a TOML table [plan] with the fields that
/// are set, by their names (strategy/Fields.h).
struct PlanFile {
  Strategy strategy;
  std::string model = "";  ///< the model that the file states; "": any
  std::string target = ""; ///< for makeTarget; "": that of the command line
};

/// Throws Failure(Exit::usage) with the position of the error.
PlanFile readPlanFile(const std::string &path);
/// The text of a file that begins with the lines `comments`.
std::string planFileText(const PlanFile &plan, const std::vector<std::string> &comments);

} // namespace weir::planner

#endif
