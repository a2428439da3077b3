//===- Roots.h - What kernels of their own take along ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product takes its bias and relu along as the library's post-ops; attention reads and writes through layout views, so that
// heads are never copied together or apart.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_FUSION_ROOTS_H
#define WEIR_PASSES_FUSION_ROOTS_H

#include "passes/fusion/Groups.h"

namespace weir {

/// Rewrites a block so that epilogues stand next to their products and attention's results have one layout.
void prepareRoots(mlir::Block &block);

/// Whether the op reads its operands through views, so that they need not be in memory themselves.
bool absorbsViews(mlir::Operation *op);

/// Moves epilogues and views into the groups of the roots they belong to.
void absorbRootViews(Groups &groups, mlir::Block &block);

} // namespace weir

#endif
