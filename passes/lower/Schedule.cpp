//===- Schedule.cpp - How a kernel is run, as the plan says it ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/Schedule.h"
#include "ir/weir/kernel/Kernel.h"

using namespace mlir;

namespace weir {

Schedule scheduleOf(KernelOp kernel, const KernelPlan &planned) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> parts, takes;
  for (const LaunchPlan &launch : planned.launches)
    parts.push_back(plan::PartAttr::get(builder.getContext(), launch.suffix, launch.tasks,
                                        launch.threads, launch.shared));
  auto take = [&](plan::Mode mode, int64_t bytes) {
    takes.push_back(plan::OperandAttr::get(builder.getContext(), mode, bytes));
  };
  for (Type type : kernel->getOperandTypes())
    take(plan::Mode::read, storageBytes(type));
  for (Type type : kernel->getResultTypes())
    take(plan::Mode::write, storageBytes(type));
  if (planned.workspace)
    take(plan::Mode::write, planned.workspace);
  return {builder.getArrayAttr(parts), builder.getArrayAttr(takes),
          builder.getI64IntegerAttr(planned.threadScratch),
          builder.getI64IntegerAttr(planned.recomputedFlops)};
}

} // namespace weir
