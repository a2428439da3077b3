//===- PrefetchDepth.h - How many batches are read ahead ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart, so that the compiler can count them in a budget.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_PREFETCHDEPTH_H
#define WEIR_RUNTIME_BASE_PREFETCHDEPTH_H

#include <cstddef>

namespace weir {

/// Batches of a step that are in memory besides the one in the arena.
constexpr size_t prefetchDepth = 3;

} // namespace weir

#endif
