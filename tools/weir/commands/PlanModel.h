//===- PlanModel.h - weir plan ----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_PLANMODEL_H
#define WEIR_TOOLS_WEIR_COMMANDS_PLANMODEL_H

#include "tools/weir/commands/Compile.h"

namespace weir {

struct PlanModelOptions {
  std::string cluster = "";           ///< its file
  std::string output = "";            ///< where the best plan is written; "": nowhere
  int64_t take = 1;                   ///< the number, in the table, of what is written
  int64_t best = 10;                  ///< how many are listed
  int64_t lowered = -1;               ///< plans that are lowered at most; -1: as many as is usual
  std::vector<std::string> axes = {}; ///< of meshes; none: any
  std::vector<std::string> plans =
      {};                        ///< files of plans that are predicted; none: the best are found
  std::vector<int64_t> why = {}; ///< two numbers in the table, whose difference is explained
  bool allDevices = false;       ///< none may be left out
  bool json = false;
};

/// Prints the best plans for a cluster. What `options` decide already is kept.
Exit planModel(const CompileOptions &options, const PlanModelOptions &plan);

/// Whether a mesh is to be chosen: "auto", or "auto:8".
bool isChosenMesh(const std::string &mesh);

/// Chooses a plan for what `options.mesh` asks for, cores of this machine or GPUs that are there,
/// says it on standard error, and sets it in `options`.
Exit chooseMesh(CompileOptions &options);

} // namespace weir

#endif
