//===- SubDimensions.h - Shardings of the pieces of a dimension -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_SUBDIMENSIONS_H
#define WEIR_PASSES_SHARDING_SUBDIMENSIONS_H

#include "mlir/Support/LLVM.h"
#include "support/mesh/Layout.h"

namespace weir::sharding {

/// For each of the factors of these sizes that make up a dimension, its pieces; nothing if a
/// sharded piece cannot be split so.
std::optional<std::vector<Pieces>> splitPieces(const Pieces &pieces, llvm::ArrayRef<int64_t> sizes,
                                               const Mesh &mesh);

/// Adds to `pieces` the shardings of `others`, of the same total size, over axes for which `mayCut`
/// holds, unless they conflict. Returns whether it added any.
bool refine(Pieces &pieces, const Pieces &others, const Mesh &mesh,
            llvm::function_ref<bool(unsigned axis)> mayCut);

/// Shards the pieces over the axis as well, innermost, where `others`, of the same total size, are,
/// if no shard becomes empty.
void cutFurther(Pieces &pieces, const Pieces &others, unsigned axis, const Mesh &mesh);

/// Splits both into pieces of the same sizes, some of which are not sharded; false if that is
/// impossible.
bool align(Pieces &first, Pieces &second, const Mesh &mesh);

} // namespace weir::sharding

#endif
