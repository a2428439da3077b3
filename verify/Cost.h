//===- Cost.h - Estimated time of a verification --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter's time, from the costs of ops. It is an estimate, to print before the work and to
// show progress; a machine may be twice as fast, or half as fast.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_COST_H
#define WEIR_VERIFY_COST_H

#include "mlir/IR/BuiltinOps.h"

namespace weir {

/// Seconds on one core.
struct VerifyCost {
  double truth = 0;     ///< interpreting the program once in each sample
  double rows = 0;      ///< evaluating a batch row by row
  double gradients = 0; ///< central differences
  double passes = 0;    ///< interpreting the result of every pass
  double plan = 0;      ///< interpreting the plan
  double actions = 0;   ///< checking every action of the artifact
  double total() const { return truth + rows + gradients + passes + plan + actions; }
};

/// For the frontend's module. `full`: as VerifyOptions::full.
VerifyCost verifyCost(mlir::ModuleOp module, bool full);

} // namespace weir

#endif
