//===- Epilogues.h - Epilogues of products, library calls and attention ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library computes a product's bias and relu as post-ops, and the cast of a library call's
// result. Attention reads and writes through layout views and casts, so that no kernel copies heads
// together or apart.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_FUSION_EPILOGUES_H
#define WEIR_PASSES_FUSION_EPILOGUES_H

#include "codegen/Target.h"
#include "passes/fusion/Groups.h"

namespace weir {

/// Takes apart the composites that have no elements of their own, and whose kernel the target
/// declines. First of all, so that their parts are fused as any others. Fails with an error at one
/// whose parts are too large.
mlir::LogicalResult decomposeDeclined(mlir::Block &block, const Target &target);

/// Makes steps of reductions along first, or last, and other axes: rows and columns, which fuse.
void reduceInSteps(mlir::Block &block);

/// Rewrites a block so that epilogues stand next to their products, attention's results have one
/// layout, and views move what is narrow: casts narrow before them and widen behind.
void placeEpilogues(mlir::Block &block);

/// Gives tensors that one truth value decides about, and that others need before it is known, a
/// computation of their own for what is selected. Before grouping; equal ops that end in one kernel
/// after all are merged there.
void recomputeUpdates(mlir::Block &block);

/// Whether the op scales a product twice, as library calls do: what is summed of its factors is
/// multiplied with a number of each, which are in memory.
bool scalesProduct(mlir::Operation *op);

/// A kernel known before anything is grouped: its ops in order, and what it yields.
struct RootKernel {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::Value> results;
};

/// Attention (`root`) with the views and casts it reads and writes through; those it reads through
/// are cloned for it alone.
RootKernel attentionKernel(mlir::Operation *root);

/// The shape of the kernel around a root; the nest, which can be anything, where the target
/// declines what would be better.
KernelShape rootShape(mlir::Operation *root, const Target &target);

/// Moves epilogues into the groups of their products, and producers into those of reductions that
/// are no row's.
void absorbNeighbours(Groups &groups, mlir::Block &block, const Target &target);

} // namespace weir

#endif
