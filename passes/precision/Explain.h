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

/// What was decided of an entry.
struct Decisions {
  llvm::DenseSet<mlir::Operation *> optimizer; ///< stays as it is
  llvm::DenseSet<mlir::Operation *> exact;     ///< products that are gradients: they leave in f32
  Rounded rounded;                             ///< the casts that were made
  Scaled scaled;                               ///< the factors that were rounded once more
};

/// What each op of the entry computes in, what its result is stored as, and why, by the decisions
/// and its row of Castable: equal ones of a line together, in the order of the model's lines. Pins
/// are still there. What only moves elements, and what is no float, is left out.
llvm::SmallVector<PrecisionRecord> explain(mlir::func::FuncOp entry, const Decisions &decisions);

} // namespace weir

#endif
