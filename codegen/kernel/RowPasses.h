//===- RowPasses.h - The passes of a row kernel over a row ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row kernel goes over a row's columns several times when one reduction depends on another. Each
// pass computes the elements that it needs from the kernel's inputs. Where that is expensive, and
// an earlier pass computes the same elements, the earlier pass saves them in a buffer of one row.
// Otherwise a chain of n norms would cost n^2: each norm needs all that comes before it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_ROWPASSES_H
#define WEIR_CODEGEN_KERNEL_ROWPASSES_H

#include "codegen/kernel/RowSpace.h"

#include <vector>

namespace weir {

/// A full value that a pass saves, in a buffer of one row. Buffers have numbers from 0 on; one is
/// used again when the last pass that reads it is over.
struct SavedColumns {
  mlir::Value value;
  unsigned buffer;
};

/// What one pass computes. All may be empty: then nothing is to be done.
struct RowPass {
  llvm::SmallVector<ReduceOp> reductions;      ///< along the row, totals included
  llvm::SmallVector<Sum *> sums;               ///< per column
  llvm::SmallVector<RowSpace::Output> outputs; ///< full
  llvm::SmallVector<SavedColumns> saves;       ///< for later passes
  llvm::SmallVector<mlir::Value> forgets;      ///< saved values that no later pass reads

  bool isEmpty() const { return reductions.empty() && sums.empty() && outputs.empty(); }
};

/// The passes of a sweep, by level. They save at most `mostSaved` values of a row at a time.
std::vector<RowPass> rowPasses(RowSpace &space, int stage, int64_t mostSaved);

/// FLOPs of the full values that these passes compute, over all rows, though an earlier pass of the
/// kernel did: such a value was not worth saving, or there was no room. `computed` has those of the
/// stages before, and gets these passes'.
int64_t recomputedFlops(const RowSpace &space, llvm::ArrayRef<RowPass> passes,
                        llvm::DenseSet<mlir::Value> &computed);

} // namespace weir

#endif
