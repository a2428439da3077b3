//===- SavedActivations.h - What sections keep for later ones -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gradients read of the forward computation is kept of every microbatch in flight. Kept is
// what is least to write and to read: where values follow element by element from fewer or narrower
// ones, these are, and the section that reads the values computes them again, as one kernel of both
// would have. The cheapest choice is a minimal cut, as it is where one body is cut in two by what
// it recomputes (passes/remat/ParetoFrontier.h).
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
