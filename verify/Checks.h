//===- Checks.h - The checks of a verification, in order ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each check reports a fault if it finds one. It throws Failure, with a diagnostic, if a form of
// the program cannot be compiled or run at all.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_CHECKS_H
#define WEIR_VERIFY_CHECKS_H

#include "verify/IntermediatePrograms.h"
#include "verify/Samples.h"
#include "verify/Verification.h"

namespace weir {

/// The figures of single rows are to add up to those of the batch they were cut from.
mlir::LogicalResult checkRows(Verification &verification, const Samples &samples);

/// The gradients of the program as the frontend makes it, in the middle of a run, against central
/// differences.
mlir::LogicalResult checkGradients(Verification &verification, const Samples &samples);

/// Lowers the module, on which all passes were run, to a plan and gives it its offsets; where it
/// differs then, finds the first of all forms that does.
mlir::LogicalResult checkPlan(Verification &verification, Samples &samples,
                              IntermediatePrograms &forms);

/// Compiles the plan and runs the artifact: each action against what the plan means, the results
/// against the program, and on three threads bit by bit against one.
mlir::LogicalResult checkArtifact(Verification &verification, Samples &samples,
                                  IntermediatePrograms &forms);

} // namespace weir

#endif
