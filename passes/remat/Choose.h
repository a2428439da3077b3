//===- Choose.h - What is not kept, to fit into a budget ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which actions are repeated behind the boundary, and which tensors lie with the host until then,
// rather than kept, so that the arena is within a budget and least time is spent.
//
// At the boundary alone, every price of a byte has its cheapest choice, and that is a minimum cut:
// an action is repeated or not; what is needed behind the boundary, or by a repeated action, is
// kept, or lies with the host where the transfers are cheaper, unless its maker is repeated. The
// choices of all prices are the corners of the lower hull of (bytes kept, time spent), and the hull
// at the budget is a bound that no choice is below, since the arena holds at least what is kept
// there (Everett, "Generalized Lagrange multiplier method", 1963). What the arena really takes is
// measured of each choice that is looked at. Marked actions are repeated in all of them. Transfers
// are counted as if none ran beside a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_CHOOSE_H
#define WEIR_PASSES_REMAT_CHOOSE_H

#include "passes/remat/Step.h"

namespace weir::remat {

struct Choice {
  Released released; ///< of it, no more than what comes back
  double cost = 0;   ///< the time that takes
  int64_t bytes = 0; ///< of the arena's scratch; of what does not fit, at least
};

struct Choices {
  Choice best;      ///< the cheapest that was found within the budget; else the smallest
  bool fits = true; ///< whether `best` is within it
  double bound = 0; ///< no choice within the budget costs less
};

/// `mostTried`: where there are so many choices, or fewer, every one is tried.
Choices choose(const Step &step, int64_t budget, int64_t mostTried = 8192);

} // namespace weir::remat

#endif
