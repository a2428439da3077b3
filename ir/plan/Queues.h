//===- Queues.h - Which queue is for what ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_PLAN_QUEUES_H
#define WEIR_IR_PLAN_QUEUES_H

#include <cstdint>

namespace weir {

constexpr uint64_t computeQueue = 0;
constexpr uint64_t fromHostQueue = 1; ///< from the host's memory, and inputs
constexpr uint64_t toHostQueue = 2;   ///< to the host's memory

/// Of the collectives along an axis of the mesh: one has one order, and so a queue. On GPUs those
/// of all axes are on the first's.
constexpr uint64_t queueOfAxis(unsigned axis) { return 3 + axis; }

} // namespace weir

#endif
