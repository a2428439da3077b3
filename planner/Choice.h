//===- Choice.h - One way to train a model on several devices ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_CHOICE_H
#define WEIR_PLANNER_CHOICE_H

#include <cstdint>
#include <string>
#include <vector>

namespace weir::planner {

/// What a planner decides: each is what the option of `weir compile` of that name says.
struct Choice {
  std::string mesh = ""; ///< "pp=2,dp=2,tp=2"; "": one device
  int64_t zero = 0;
  int64_t microbatches = 0;                ///< of a step; 0: the recipe's
  std::string schedule = "";               ///< of a mesh with pp; "": the usual one
  std::vector<std::string> recompute = {}; ///< patterns of blocks
  bool sequenceParallel = true;
  std::string contextParallel = "";
  std::string offload = ""; ///< what lies with the host besides
  std::string link = "";    ///< that collectives are ordered for
  std::string rates = "";   ///< that layouts are weighed by

  bool operator==(const Choice &) const = default;

  /// As options of a command line, but for what it was chosen for: `link` and `rates`.
  std::string text() const;
};

/// A choice as a file, and what it was made for.
struct PlanFile {
  Choice choice;
  std::string model;  ///< as the file says who it is for; "": anyone
  std::string target; ///< for makeTarget; "": as the command line says
  std::string precision = "";
};

/// Throws Failure(Exit::usage) that says where the file is wrong.
PlanFile readPlanFile(const std::string &path);
/// The text of one, with `comments`, lines that begin it.
std::string planFileText(const PlanFile &plan, const std::vector<std::string> &comments);

} // namespace weir::planner

#endif
