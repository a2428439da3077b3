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

/// Decomposes composites that have no elementwise form and whose kernel the target declines. Runs
/// first, so that their parts are fused like any other ops. Reports an error if the parts are too
/// large.
mlir::LogicalResult decomposeDeclined(mlir::Block &block, const Target &target);

/// Splits reductions along the first or last axes and others into steps: rows and columns, which
/// fuse.
void reduceInSteps(mlir::Block &block);

/// Rewrites a block so that epilogues stand next to their products, results of attention have one
/// layout, and views move narrow values: narrowing casts go before views, widening casts after
/// them.
void placeEpilogues(mlir::Block &block);

/// If one boolean selects several tensors, and other ops need these before the boolean is known,
/// clones the computation of the tensors for the selected values. Runs before grouping; equal ops
/// that end in one kernel are merged there.
void recomputeUpdates(mlir::Block &block);

/// Whether the op multiplies a product by two scales, as library calls can: each operand has a
/// scale in memory.
bool scalesProduct(mlir::Operation *op);

/// A kernel that is known before grouping: its ops in order, and its results.
struct RootKernel {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::Value> results;
};

/// Attention (`root`) with the views and casts through which it reads and writes; those for reading
/// are cloned for it.
RootKernel attentionKernel(mlir::Operation *root);

/// The shape of the kernel around a root; a nest, which supports every op, if the target declines a
/// better one.
KernelShape rootShape(mlir::Operation *root, const Target &target);

/// Moves epilogues into the groups of their products, and producers into the groups of reductions
/// that are not rows.
void absorbNeighbours(Groups &groups, mlir::Block &block, const Target &target);

} // namespace weir

#endif
