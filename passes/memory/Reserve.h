//===- Reserve.h - Memory that a run needs outside the arena --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_MEMORY_RESERVE_H
#define WEIR_PASSES_MEMORY_RESERVE_H

#include "codegen/Target.h"
#include "ir/plan/PlanOps.h"
#include "support/program/PrefetchDepth.h"

namespace weir {

/// Bytes of a budget outside the arena.
struct Reserve {
  int64_t threads = 0; ///< on a CPU, the scratch of all threads
  int64_t batches = 0; ///< on a CPU, the batches that are read ahead
  int64_t library = 0; ///< on a device with memory of its own, a library's workspace there

  int64_t bytes() const { return threads + batches + library; }
};

/// `inputBytes`: the size of a step's batch. `hasCalls`: whether the plan calls a library.
inline Reserve reserveOf(const Target &target, int64_t threads, int64_t threadScratch,
                         int64_t inputBytes, bool hasCalls) {
  constexpr int64_t page = 4096, workspace = int64_t(32) << 20;
  if (target.stagesPorts())
    return {.library = hasCalls ? workspace : 0};
  return {.threads = threads * int64_t(llvm::alignTo(threadScratch, page)),
          .batches = int64_t(prefetchDepth) * inputBytes};
}

/// The same for a plan, with or without offsets.
inline Reserve reserveOf(const Target &target, int64_t threads, mlir::ModuleOp plan) {
  auto scratch = plan->getAttrOfType<mlir::IntegerAttr>(plan::threadScratchAttrName);
  int64_t inputs = 0;
  bool hasCalls = false;
  for (auto entry : plan.getOps<plan::EntryOp>()) {
    int64_t bytes = 0;
    for (auto port : entry.getOps<plan::PortOp>())
      if (port.getKind() == plan::PortKind::input)
        bytes += storageBytes(port.getType());
    inputs = std::max(inputs, bytes);
    entry.walk([&](plan::CallOp) { hasCalls = true; });
  }
  return reserveOf(target, threads, scratch ? scratch.getInt() : 0, inputs, hasCalls);
}

/// The part of a budget that remains for the scratch of an entry, for a plan without offsets.
inline int64_t roomIn(mlir::ModuleOp plan, const Target &target, int64_t budget, int64_t threads) {
  int64_t persistent = 0;
  for (auto variable : plan.getOps<plan::VariableOp>())
    if (!variable.getHost())
      persistent += int64_t(llvm::alignTo(storageBytes(variable.getType()), plan::alignment));
  return budget - persistent - reserveOf(target, threads, plan).bytes();
}

} // namespace weir

#endif
