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
  Released released; ///< of it, no more than what comes back
  double cost = 0;   ///< the time that takes
  int64_t bytes = 0; ///< of the arena's scratch; of what does not fit, at least
};

struct Choices {
  Choice best;      ///< the cheapest that was found within the budget; else the smallest
  bool fits = true; ///< whether `best` is within it
  double bound = 0; ///< no choice within the budget costs less
};

/// Choices of one step in one budget after the other. What is found in one does not depend on which
/// were asked for before it, and the bytes of a smallest are enough.
class Chooser {
public:
  /// The step outlives this. `mostTried`: where there are so many choices, or fewer, every one is
  /// tried.
  explicit Chooser(const Step &step, int64_t mostTried = 8192);
  ~Chooser();

  /// Where not `wantsLeast`, of what surely does not fit no smallest is looked for.
  Choices within(int64_t budget, bool wantsLeast = true);

private:
  class Search;
  Step stays;                          ///< where nothing may go to the host
  std::unique_ptr<Search> given, kept; ///< of the step; of `stays`, where they differ
};

/// In one budget alone.
Choices choose(const Step &step, int64_t budget, int64_t mostTried = 8192);

} // namespace weir::remat

#endif
