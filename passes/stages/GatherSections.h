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

/// The sections of the same microbatches (passes/stages/Sections.h), in a block that has sections.
llvm::SmallVector<MicrobatchesOp> sectionsIn(mlir::Block &block);

/// Moves the sections of a block next to each other: ops that depend on their results go after all
/// of them, others before. Returns the sections; none if the block has none.
llvm::SmallVector<MicrobatchesOp> gatherSections(mlir::Block &block);

} // namespace weir

#endif
