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

/// Checks that the figures of single rows add up to those of their batch.
mlir::LogicalResult checkRows(Verification &verification, const Samples &samples);

/// Checks the gradients of the frontend's program, in the middle of a run, against central
/// differences.
mlir::LogicalResult checkGradients(Verification &verification, const Samples &samples);

/// Lowers the module, after all passes, to a plan, and assigns offsets. If it differs then, finds
/// the first form that does.
mlir::LogicalResult checkPlan(Verification &verification, Samples &samples,
                              IntermediatePrograms &forms);

/// Compiles the plan and runs the artifact. Checks each action against its meaning, the results
/// against the program, and on three threads, bit by bit, against one.
mlir::LogicalResult checkArtifact(Verification &verification, Samples &samples,
                                  IntermediatePrograms &forms);

} // namespace weir

#endif
