//===- Placement.h - Chooses offsets in the arena -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finding the smallest arena is NP-hard. The usual good heuristic is greedy by size: the largest
// buffer first, each at its best fit (Pisarchyk and Lee, "Efficient memory management for deep
// neural net inference", 2020).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_MEMORY_PLACEMENT_H
#define WEIR_PASSES_MEMORY_PLACEMENT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir {

/// When a buffer is alive, in numbers of actions, both included, and how many bytes it takes.
struct Lifetime {
  int64_t first, last;
  int64_t size;
};

struct Placement {
  std::vector<int64_t> offsets; ///< by buffer
  int64_t end;                  ///< behind them all
  size_t steps;                 ///< stretches of occupied memory that were looked at
};

/// Places buffers from `base` on, so that no two that are alive at one time overlap: the largest
/// first, of these the earliest, each in the smallest gap that holds it (the lowest of several),
/// else behind all that it meets.
Placement placeBuffers(llvm::ArrayRef<Lifetime> buffers, int64_t base);

} // namespace weir

#endif
