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

/// A lower bound on the bytes of scratch of the step, for every order of its actions that respects
/// dependences. When an action runs, each other action is done or not. The values that done actions
/// computed and others read are alive, and a minimum cut is the separation with the fewest bytes.
/// The bound is the maximum over some actions.
int64_t leastInAnyOrder(const Step &step);

} // namespace weir::remat

#endif
