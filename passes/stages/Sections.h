//===- Sections.h - Sections of microbatches ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of a rank on each microbatch is cut into sections: for each of its stages, the forward
// pass, and the gradients. Each section is a weir.microbatches of its own. So passes that form or
// order kernels stay within a section, and need not know about stages. Run one after the other, the
// sections compute what the uncut body computes. weir.order gives the order of their rounds, and
// the plan follows it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_STAGES_SECTIONS_H
#define WEIR_PASSES_STAGES_SECTIONS_H

#include "ir/weir/Stages.h"
#include "passes/stages/Schedules.h"

namespace weir::stages {

/// A rank's place among the stages.
struct Here {
  int64_t ranks, rank; ///< along pp
  int64_t chunks;      ///< stages per rank
  bool has(int64_t stage) const { return stage == everywhere || stage % ranks == rank; }
};

/// Replaces a loop, some of whose ops belong to this rank, by its sections. `stageOf` returns the
/// stage of a value or op of the body. Returns the new values of the loop's results that this rank
/// has; the loop keeps no uses of those. Failure comes with a diagnostic.
mlir::LogicalResult cutIntoSections(MicrobatchesOp loop, const Here &here, const Schedule &schedule,
                                    llvm::function_ref<int64_t(mlir::Operation *)> stageOfOp,
                                    llvm::function_ref<int64_t(mlir::Value)> stageOfValue);

} // namespace weir::stages

#endif
