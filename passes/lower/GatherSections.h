//===- GatherSections.h - Sections of microbatches, side by side ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_LOWER_GATHERSECTIONS_H
#define WEIR_PASSES_LOWER_GATHERSECTIONS_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// The parts of the same microbatches (passes/pipeline/Sections.h), in a block that has such.
llvm::SmallVector<MicrobatchesOp> sectionsIn(mlir::Block &block);

/// Has sections stand together: what is computed of their results goes behind all of them, what is
/// not ahead.
void gatherSections(llvm::ArrayRef<MicrobatchesOp> sections);

} // namespace weir

#endif
