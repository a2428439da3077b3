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

/// A strategy, and what it was made for. The file is a table [plan] of TOML that has the fields
/// which are given, by their names (strategy/Fields.h).
struct PlanFile {
  Strategy strategy;
  std::string model = "";  ///< as the file says who it is for; "": anyone
  std::string target = ""; ///< for makeTarget; "": as the command line says
};

/// Throws Failure(Exit::usage) that says where the file is wrong.
PlanFile readPlanFile(const std::string &path);
/// The text of one, with `comments`, lines that begin it.
std::string planFileText(const PlanFile &plan, const std::vector<std::string> &comments);

} // namespace weir::planner

#endif
