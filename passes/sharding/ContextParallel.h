//===- ContextParallel.h - Context parallelism ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks along the axis hold different positions of a sequence, of every activation with a sequence
// dimension. Only attention reads other positions. There are three ways to shard it:
// - By heads: all-to-alls before and after attention exchange queries, keys, values and results
//   (Jacobs et al., "DeepSpeed Ulysses: System optimizations for enabling training of extreme long
//   sequence transformer models", 2023).
// - By queries: each rank keeps its own queries, and all-gathers keys and values. This moves more
//   bytes, but works for any number of heads.
// - By queries, in a ring: keys and values pass from rank to rank, so that no rank holds all of
//   them.
//
// If attention is causal, and ranks keep their own queries, ranks hold stripes (Stripes.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_CONTEXTPARALLEL_H
#define WEIR_PASSES_SHARDING_CONTEXTPARALLEL_H

#include "passes/sharding/Propagation.h"
#include "strategy/Values.h"
#include <optional>

namespace weir::sharding {

/// Gives what attention reads and makes its cut along positions, and pins attention to heads or
/// queries: `way` says which; where it is nothing, to heads where there are heads
/// enough for tp besides, or positions cannot be cut into stripes. Failure, with a diagnostic,
/// where a step has no attention, or some that cannot be cut so.
llvm::LogicalResult applyContextParallel(mlir::func::FuncOp entry, Propagation &propagation,
                                         const Mesh &mesh, unsigned axis,
                                         std::optional<ContextParallel> way);

} // namespace weir::sharding

#endif
