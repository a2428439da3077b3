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

/// The lifetime of a buffer as numbers of actions, both included, and its size in bytes.
struct Lifetime {
  int64_t first, last;
  int64_t size;
};

struct Placement {
  std::vector<int64_t> offsets; ///< by buffer
  int64_t end;                  ///< end of the last one
  size_t steps;                 ///< number of occupied ranges that were visited
};

/// Assigns offsets from `base` on, so that no two buffers that are alive at the same time overlap.
/// Takes the largest first, of equal ones the earliest, and puts each into the smallest gap that
/// holds it (the lowest of several), or else after all buffers that it meets.
Placement placeBuffers(llvm::ArrayRef<Lifetime> buffers, int64_t base);

} // namespace weir

#endif
