//===- MarkRecomputed.h - Actions that the model's plan marks -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_MARKRECOMPUTED_H
#define WEIR_PASSES_REMAT_MARKRECOMPUTED_H

#include "ir/weir/requests/Recompute.h"
#include "passes/buffers/ReadStep.h"
#include "passes/remat/Rewrite.h"

namespace weir::remat {

/// Says of an entry which of its tensors are gradients, or computed from them, and which actions
/// make such. Marks the actions that can be repeated, make none, and compute in the blocks alone:
/// what does not compute but shows, and constants, may come from anywhere. An action is not marked
/// whose result is read in blocks that begin elsewhere (Recomputed::startOf). Where no gradient
/// reads what the marked actions make, none is marked.
void markRecomputedActions(EntryStep &entry, const Recomputed &blocks);

} // namespace weir::remat

#endif
