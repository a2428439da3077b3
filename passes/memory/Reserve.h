//===- Reserve.h - What a run takes besides the arena ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_MEMORY_RESERVE_H
#define WEIR_PASSES_MEMORY_RESERVE_H

#include "codegen/Target.h"
#include "runtime/base/Ahead.h"

namespace weir {

/// Bytes of a budget that are not the arena's. On a CPU, of `threads` threads: what each has to
/// itself, and the batches that are read ahead, of so many bytes of inputs a step. On a device with
/// memory of its own: what libraries ask for there.
inline int64_t reserveOf(const Target &target, int64_t threads, int64_t threadScratch,
                         int64_t inputBytes) {
  constexpr int64_t page = 4096, workspace = int64_t(32) << 20;
  if (target.stagesPorts())
    return target.requirement().ends_with("+none") ? 0 : workspace;
  return threads * int64_t(llvm::alignTo(threadScratch, page)) + int64_t(batchesAhead) * inputBytes;
}

} // namespace weir

#endif
