//===- SubDimensions.h - Shardings of the pieces of a dimension -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_SUBDIMENSIONS_H
#define WEIR_PASSES_SHARDING_SUBDIMENSIONS_H

#include "mlir/Support/LLVM.h"
#include "runtime/base/Layout.h"

namespace weir::sharding {

/// The pieces of each of the factors of these sizes that make up a dimension; nothing where a piece
/// that is cut does not fall apart so.
std::optional<std::vector<Pieces>> splitPieces(const Pieces &pieces, llvm::ArrayRef<int64_t> sizes,
                                               const Mesh &mesh);

/// Adds to `pieces` the cuts of `others`, of as many places, over axes for which `mayCut` holds, as
/// far as they do not contradict what is there. Returns whether there was one.
bool refine(Pieces &pieces, const Pieces &others, const Mesh &mesh,
            llvm::function_ref<bool(unsigned axis)> mayCut);

/// Cuts the pieces over the axis too, innermost, where `others`, of as many places, are, and where
/// each share keeps a place.
void cutFurther(Pieces &pieces, const Pieces &others, unsigned axis, const Mesh &mesh);

/// Makes both pieces of the same sizes, some of which are not cut; false where there are none.
bool align(Pieces &first, Pieces &second, const Mesh &mesh);

} // namespace weir::sharding

#endif
