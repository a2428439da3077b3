//===- Choose.h - What is computed again to fit into a budget -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which actions are repeated behind the boundary, rather than what they make kept until there, so
// that the arena is within a budget and least is repeated.
//
// At the boundary alone, every price of a byte has its cheapest choice, and that is a minimum cut:
// an action is repeated or not; what is needed behind the boundary, or by a repeated action, is
// kept unless its maker is repeated. The choices of all prices are the corners of the lower hull of
// (bytes kept, time spent), and the hull at the budget is a bound that no choice is below, since
// the arena holds at least what is kept there (Everett, "Generalized Lagrange multiplier method",
// 1963). What the arena really takes is measured of each choice that is looked at. Marked actions
// are repeated in all of them.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_CHOOSE_H
#define WEIR_PASSES_REMAT_CHOOSE_H

#include "passes/remat/Step.h"

namespace weir::remat {

struct Choice {
  std::vector<bool> again; ///< the actions that are repeated
  double cost = 0;         ///< the time they take
  int64_t bytes = 0;       ///< of the arena's scratch; of what does not fit, at least
};

struct Choices {
  Choice best;      ///< the cheapest that was found within the budget; else the smallest
  bool fits = true; ///< whether `best` is within it
  double bound = 0; ///< no choice within the budget costs less
};

/// `mostTried`: with so many actions to decide about, or fewer, every choice is tried.
Choices choose(const Step &step, int64_t budget, int mostTried = 12);

} // namespace weir::remat

#endif
