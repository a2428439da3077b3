//===- Expansion.h - How an all-reduce is carried out ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only. weir-expand-collectives carries all-reduces out in this way, and sharding uses the
// same rule for their cost.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_COLLECTIVES_EXPANSION_H
#define WEIR_PASSES_COLLECTIVES_EXPANSION_H

#include <cstdint>

namespace weir::collectives {

/// Whether an all-reduce of so few elements is one all-gather, after which each member sums all
/// values: a reduce-scatter and an all-gather would move as many bytes, with two latencies.
/// `elements` is that of the largest shard, so that all ranks have the same collectives.
inline bool gathersToReduce(int64_t elements, int64_t members) { return elements < 1024 * members; }

} // namespace weir::collectives

#endif
