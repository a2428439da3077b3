//===- Schedule.h - How a kernel is run, as the plan says it --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_LOWER_SCHEDULE_H
#define WEIR_PASSES_LOWER_SCHEDULE_H

#include "codegen/Target.h"
#include "ir/plan/PlanDialect.h"

namespace weir {

/// The attributes of a plan.kernel that its code obeys.
struct Schedule {
  mlir::ArrayAttr parts; ///< #plan.part, in order
  mlir::ArrayAttr takes; ///< #plan.operand: inputs, results, a workspace
  mlir::IntegerAttr threadScratch, recomputed;
};

/// Of a kernel as the target planned it.
Schedule scheduleOf(KernelOp kernel, const KernelPlan &planned);

} // namespace weir

#endif
