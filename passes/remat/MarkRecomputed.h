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

/// Determines which tensors of an entry are gradients, or computed from them, and which actions
/// compute such tensors. Marks the actions that can be repeated, compute no such tensor, and
/// compute only in the blocks; views and constants may come from anywhere. Does not mark an action
/// whose result is read in blocks that begin elsewhere (Recomputed::startOf). If no gradient reads
/// the results of the marked actions, marks none.
void markRecomputedActions(EntryStep &entry, const Recomputed &blocks);

} // namespace weir::remat

#endif
