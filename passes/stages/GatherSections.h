//===- GatherSections.h - Moves the sections of microbatches together -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_STAGES_GATHERSECTIONS_H
#define WEIR_PASSES_STAGES_GATHERSECTIONS_H

#include "ir/weir/program/Microbatches.h"

namespace weir {

/// The parts of the same microbatches (passes/stages/Sections.h), in a block that has such.
llvm::SmallVector<MicrobatchesOp> sectionsIn(mlir::Block &block);

/// Has the sections of a block stand together: what is computed of their results goes behind all of
/// them, what is not ahead. Gives them; none where the block has none.
llvm::SmallVector<MicrobatchesOp> gatherSections(mlir::Block &block);

} // namespace weir

#endif
