//===- LowerToPlan.h - From kernels to a plan -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the fused program into plan IR for a CPU: every tensor becomes a buffer, every kernel
// launches or library calls, in order. Variables are updated in place where no one needs the old
// value any more, and by a copy at the end elsewhere. Offsets are not known yet:
// passes/memory/AssignOffsets.cpp gives them.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_PLAN_LOWERTOPLAN_H
#define WEIR_CODEGEN_PLAN_LOWERTOPLAN_H

#include "codegen/cpu/Kernels.h"
#include "ir/plan/PlanDialect.h"

namespace weir {

/// Replaces the module's contents. Kernels that are equal but for their locations become one
/// plan.kernel. Failure comes with a diagnostic.
mlir::LogicalResult lowerToPlan(mlir::ModuleOp module, const Target &target);

/// --weir-lower-to-plan for tests, with the option `target` as Target::parse takes it.
void registerLowerToPlan();

/// The plan's kernels as the kernel compiler wants them.
llvm::SmallVector<NamedKernel> kernelsOf(mlir::ModuleOp plan);

} // namespace weir

#endif
