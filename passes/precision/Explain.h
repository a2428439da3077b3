//===- Explain.h - Why an op computes in a type ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_EXPLAIN_H
#define WEIR_PASSES_PRECISION_EXPLAIN_H

#include "ir/weir/reports/PrecisionReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/precision/Scaler.h"
#include "llvm/ADT/DenseSet.h"

namespace weir {

/// The decisions for an entry.
struct Decisions {
  llvm::DenseSet<mlir::Operation *> optimizer; ///< does not change
  llvm::DenseSet<mlir::Operation *> exact; ///< products that are gradients: their results are f32
  Rounded rounded;                         ///< the casts that were inserted
  Scaled scaled;                           ///< the operands that were rounded once more
};

/// The type in which each op of the entry computes, the type in which its result is stored, and
/// why, from the decisions and its row of Castable. Equal ones of a line are merged, in the order
/// of the model's lines. Pins are still attached. Omits ops that only move elements, and results
/// that are not floats.
llvm::SmallVector<PrecisionRecord> explain(mlir::func::FuncOp entry, const Decisions &decisions);

} // namespace weir

#endif
