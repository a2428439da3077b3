//===- Explain.h - Saved activations of an entry, with their costs --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_EXPLAIN_H
#define WEIR_PASSES_REMAT_EXPLAIN_H

#include "ir/weir/reports/SavedActivationsReport.h"
#include "passes/buffers/ReadStep.h"
#include "passes/remat/Rewrite.h"

namespace weir::remat {

/// The values that a marked entry (MarkRecomputed.h) saves for its gradients and for recomputation,
/// and how it recomputes or offloads the others. Alike tensors are merged, the largest first.
SavedActivationsReport explain(const EntryStep &entry, const Released &released);

} // namespace weir::remat

#endif
