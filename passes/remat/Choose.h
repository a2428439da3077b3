//===- Choose.h - Chooses activations to recompute or offload -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the actions to recompute in the backward pass and the tensors to offload until then,
// instead of saving them, so that the arena fits a budget at the least cost in time.
// ParetoFrontier.h has the cheapest choices by the memory at the boundary between forward and
// backward alone, and a lower bound on the cost. For each choice that it considers, the chooser
// measures the whole arena. Every choice recomputes the marked actions. Costs assume that no
// transfer overlaps with a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_CHOOSE_H
#define WEIR_PASSES_REMAT_CHOOSE_H

#include "passes/remat/Rewrite.h"
#include <memory>

namespace weir::remat {

struct Choice {
  Released released; ///< recomputed or offloaded, and needed later
  double cost = 0;   ///< its time
  int64_t bytes = 0; ///< of the arena's scratch; a lower bound if it does not fit
};

struct Choices {
  Choice best;      ///< the cheapest found within the budget, or else the smallest
  bool fits = true; ///< whether `best` is within the budget
  double bound = 0; ///< no choice within the budget costs less
};

/// Choices for one step with several budgets in turn. A result does not depend on earlier budgets,
/// and the bytes of a smallest choice are a budget that fits.
class Chooser {
public:
  /// The step must outlive this. With at most `mostTried` choices, every one is tried.
  explicit Chooser(const Step &step, int64_t mostTried = 8192);
  ~Chooser();

  /// Without `wantsLeast`, does not look for the smallest choice if nothing fits.
  Choices within(int64_t budget, bool wantsLeast = true);

private:
  class Search;
  Step stays;                          ///< a copy of the step in which nothing is offloaded
  std::unique_ptr<Search> given, kept; ///< of the step, and of `stays` if it differs
};

/// The choices for a single budget.
Choices choose(const Step &step, int64_t budget, int64_t mostTried = 8192);

} // namespace weir::remat

#endif
