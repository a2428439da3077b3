//===- Sections.h - Microbatches in parts ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a rank computes of each microbatch is cut into sections: of each of its stages what runs
// forward, and what gradients take. Each is weir.microbatches of its own, so whatever makes kernels
// or orders them keeps to a section and knows of none. One after the other they mean what they
// meant as one; in which order their rounds run is weir.order, which the plan follows.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_STAGES_SECTIONS_H
#define WEIR_PASSES_STAGES_SECTIONS_H

#include "ir/weir/Stages.h"
#include "passes/stages/Schedules.h"

namespace weir::stages {

/// A rank among the stages.
struct Here {
  int64_t ranks, rank; ///< along pp
  int64_t chunks;      ///< stages of each
  bool has(int64_t stage) const { return stage == everywhere || stage % ranks == rank; }
};

/// Replaces a loop, of whose body some ops are this rank's, by its sections. `stageOf` says where a
/// value of the body, or an op, is. Gives the results that are here new values; the loop is left
/// without uses of those. Failure comes with a diagnostic.
mlir::LogicalResult cutIntoSections(MicrobatchesOp loop, const Here &here, const Schedule &schedule,
                                    llvm::function_ref<int64_t(mlir::Operation *)> stageOfOp,
                                    llvm::function_ref<int64_t(mlir::Value)> stageOfValue);

} // namespace weir::stages

#endif
