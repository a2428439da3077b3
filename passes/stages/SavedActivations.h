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

/// Of what is computed wherever it is read.
constexpr int64_t anySection = -1;

/// The section of each op that is here; a value of one may be read in a later one.
using SectionOf = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Gives what is drawn at random, and what follows from that alone, to the first section that reads
/// it. What else reads nothing of a stage is cheap, and the same for all microbatches.
void placeDrawn(mlir::Block &body, SectionOf &sectionOf);

/// The ops that later sections compute again rather than read what was kept of them.
llvm::DenseSet<mlir::Operation *> computedAgain(mlir::Block &body, const SectionOf &sectionOf);

} // namespace weir::stages

#endif
