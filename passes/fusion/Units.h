//===- Units.h - Ordered units that fusion merges -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_FUSION_UNITS_H
#define WEIR_PASSES_FUSION_UNITS_H

#include "passes/fusion/Groups.h"

namespace weir {

/// The ops of a group, one op that no kernel computes, or the sections of the same microbatches
/// (passes/stages/GatherSections.h), which take turns and therefore count as one.
struct Unit {
  FusionGroup *group = nullptr;             ///< null if no kernel computes the ops
  llvm::SmallVector<mlir::Operation *> ops; ///< in the block's order
};

/// The units of a block, ordered so that each comes after those that it reads, and collectives and
/// transfers keep their order. Otherwise, a unit stays at the position of its last op. Cheap ops
/// without a group are in no unit: kernels clone them.
std::vector<Unit> unitsInOrder(mlir::Block &block, Groups &groups);

} // namespace weir

#endif
