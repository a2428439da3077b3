//===- RowSpace.h - What a row kernel computes, and when ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row kernel's tensors are full (an element per row and column), per row, per column, or scalar.
// Its reductions are of two kinds: along a row, known when a pass over the row's columns ends; and
// across rows, known when all rows are done.
//
//   level of a value: the passes over its row that come before it
//   stage of a value: the sweeps over all rows that come before it
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_ROWSPACE_H
#define WEIR_CODEGEN_KERNEL_ROWSPACE_H

#include "ir/weir/WeirDialect.h"
#include "ir/weir/reduction/Reduction.h"

#include "llvm/ADT/SetVector.h"

namespace weir {

/// A reduction across rows.
struct Sum {
  enum Kind {
    perColumn, ///< of a full value, along the leading axes
    total,     ///< of a full value, along all axes: each row is reduced first
    perRow     ///< of a value per row
  };
  ReduceOp op;
  Kind kind;
  int64_t width; ///< elements of the result: the columns, or 1
  int stage;     ///< the sweep that computes it
  int level;     ///< of its input
};

enum class Extent { full, row, column, scalar, sum };

class RowSpace {
public:
  explicit RowSpace(KernelOp kernel);

  Extent extentOf(mlir::Value result) const;
  int stageOf(mlir::Value value) const { return stages.lookup(value); }
  int levelOf(mlir::Value value) const { return levels.lookup(value); }

  /// A result of the kernel.
  struct Output {
    unsigned index;
    mlir::Value value;
    int level;
  };
  /// What a sweep computes, and what is computed once its sums are known.
  llvm::SmallVector<Output> outputsOf(int stage, Extent extent) const;
  llvm::SmallVector<Output> afterwards(int stage, Extent extent) const;
  llvm::SmallVector<Sum *> sumsOf(int stage);

  /// The reductions along rows that `outputs` need, within one sweep.
  llvm::SetVector<mlir::Operation *> rowReductionsFor(llvm::ArrayRef<mlir::Value> outputs) const;

  int64_t rows, columns;
  int lastStage = 0;
  llvm::SmallVector<Sum> sums;
  llvm::SetVector<mlir::Operation *> rowReductions;

private:
  void classify(mlir::Block &body);

  mlir::Block &body;
  llvm::DenseMap<mlir::Value, int> stages, levels;
  llvm::DenseSet<mlir::Value> sumResults;
};

} // namespace weir

#endif
