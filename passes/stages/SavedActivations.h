//===- SavedActivations.h - Activations saved between sections ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every microbatch in flight, a stage saves values of the forward pass that gradients read. It
// saves those that are cheapest to write and read. If saved values determine others element by
// element, the section that reads the others recomputes them, as a single fused kernel would. The
// cheapest choice is a minimum cut, as in rematerialization without stages
// (passes/remat/ParetoFrontier.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_STAGES_SAVEDACTIVATIONS_H
#define WEIR_PASSES_STAGES_SAVEDACTIVATIONS_H

#include "ir/weir/WeirDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace weir::stages {

/// Whether the value is recomputed at each use.
constexpr int64_t anySection = -1;

/// The section of each op of this rank; a later section may read a value of an earlier one.
using SectionOf = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Moves random numbers, and values that depend only on them, to the first section that reads them.
/// Other values that depend on nothing of a stage are cheap, and the same for all microbatches.
void placeDrawn(mlir::Block &body, SectionOf &sectionOf);

/// The ops that later sections recompute, instead of reading saved values.
llvm::DenseSet<mlir::Operation *> computedAgain(mlir::Block &body, const SectionOf &sectionOf);

} // namespace weir::stages

#endif
