//===- ContextParallel.h - What is cut over an axis along sequences -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Context parallelism: ranks along the axis have other positions of a sequence, of all that is
// computed for each. Attention alone looks across positions. Either it is cut by heads, and
// queries, keys, values and results are exchanged around it (Jacobs et al., "DeepSpeed Ulysses:
// System optimizations for enabling training of extreme long sequence transformer models", 2023).
// Or it has its own queries there, and keys and values are gathered: which takes more, and any
// number of heads; or they are passed on from rank to rank, so that none has all of them. Where
// what a query sees depends on its position, ranks have stripes (Stripes.h).
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
