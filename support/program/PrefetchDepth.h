//===- PrefetchDepth.h - How many batches are read ahead ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's prefetcher reads them; the compiler counts them in a memory budget.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PROGRAM_PREFETCHDEPTH_H
#define WEIR_SUPPORT_PROGRAM_PREFETCHDEPTH_H

#include <cstddef>

namespace weir {

/// Batches of a step that are in memory besides the one in the arena.
constexpr size_t prefetchDepth = 3;

} // namespace weir

#endif
