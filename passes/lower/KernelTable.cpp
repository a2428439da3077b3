//===- KernelTable.cpp - The kernels of a plan ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelTable.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/kernel/Kernel.h"
#include "mlir/IR/IRMapping.h"
#include "passes/lower/Schedule.h"
#include "support/program/Limits.h"

using namespace mlir;

namespace weir {

static int64_t bytesOf(KernelOp kernel) {
  int64_t total = 0;
  for (Type type : kernel->getOperandTypes())
    total += storageBytes(type);
  for (Type type : kernel->getResultTypes())
    total += storageBytes(type);
  return total;
}

static int64_t flopsOf(KernelOp kernel, const KernelPlan &planned) {
  double total = double(planned.recomputedFlops);
  kernel.walk([&](Costed op) { total += op.cost().flops; });
  return int64_t(total);
}

bool KernelTable::isCall(KernelOp kernel) const { return target.isCall(kernel); }

FailureOr<const KernelTable::Entry *> KernelTable::of(KernelOp kernel) {
  if (auto known = entries.find(kernel); known != entries.end())
    return known->second.get();
  FailureOr<KernelPlan> schedule = target.planKernel(kernel);
  if (failed(schedule))
    return failure();
  auto owned = std::make_unique<Entry>();
  Entry &entry = *owned;
  entry.schedule = *schedule;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  Schedule said = scheduleOf(kernel, *schedule);
  std::string symbol = "kernel_" + std::to_string(entries.size());
  entry.op = plan::KernelOp::create(
      builder, kernel.getLoc(), builder.getStringAttr(symbol), kernel.getShapeAttr(), said.parts,
      said.takes, said.threadScratch, builder.getI64IntegerAttr(flopsOf(kernel, *schedule)),
      builder.getI64IntegerAttr(bytesOf(kernel)), said.recomputed);
  // A variable may have that name: the kernel takes another then.
  symbols.insert(entry.op);
  Block *body = builder.createBlock(&entry.op.getBody());
  IRMapping mapping;
  for (Value input : kernel.getInputs())
    if (!mapping.contains(input))
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  Operation *meaning = builder.clone(*kernel.getOperation(), mapping);
  meaning->removeAttr(resultPhasesAttrName); // of one of its uses
  if (failed(take(kernel, schedule->threadScratch)))
    return failure();
  return entries.try_emplace(meaning, std::move(owned)).first->second.get();
}

LogicalResult KernelTable::call(OpBuilder &builder, KernelOp kernel, const CallBuffers &buffers) {
  FailureOr<int64_t> scratch = target.planCall(builder, kernel, buffers);
  if (failed(scratch))
    return failure();
  return take(kernel, *scratch);
}

LogicalResult KernelTable::take(KernelOp kernel, int64_t scratch) {
  threadScratch = std::max(threadScratch, scratch);
  if (uint64_t(scratch) <= limits::threadScratch)
    return success();
  return emitError(kernel.getLoc())
         << "this kernel needs " << scratch << " bytes of scratch per thread, but at most "
         << limits::threadScratch
         << " are available: shard it over more ranks (--mesh), or make it smaller (--set)";
}

} // namespace weir
