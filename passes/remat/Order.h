//===- Order.h - A lower bound on memory for any order of kernels ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_ORDER_H
#define WEIR_PASSES_REMAT_ORDER_H

#include "passes/remat/Rewrite.h"

namespace weir::remat {

/// Bytes of scratch that the step takes at least, however its actions are ordered within what they
/// wait for. When an action runs, others are done or are not: what is made by the former and read
/// by the latter is there, and the way to part them with the fewest bytes is a minimum cut. The
/// most of that over some actions.
int64_t leastInAnyOrder(const Step &step);

} // namespace weir::remat

#endif
