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

/// Shards the operands and results of attention along positions, and pins attention to heads or
/// queries. `way` says which; without it, to heads if there are enough heads for tp as well, or if
/// positions cannot be divided into stripes. Fails, with a diagnostic, if a step has no attention,
/// or has attention that cannot be sharded so.
llvm::LogicalResult applyContextParallel(mlir::func::FuncOp entry, Propagation &propagation,
                                         const Mesh &mesh, unsigned axis,
                                         std::optional<ContextParallel> way);

} // namespace weir::sharding

#endif
