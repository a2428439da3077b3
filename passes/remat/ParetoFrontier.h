//===- ParetoFrontier.h - The cheapest choices at the boundary ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At the boundary between forward and backward, each price of a byte has a cheapest choice, which
// is a minimum cut. An action is recomputed or not. A tensor that the backward pass or a recomputed
// action reads is saved, or offloaded if its transfers are cheaper, unless its action is
// recomputed. The choices for all prices are the corners of the lower convex hull of (bytes saved,
// time spent). The hull at the budget is a lower bound for every choice, because the arena holds at
// least the tensors saved at the boundary (Everett, "Generalized Lagrange multiplier method",
// 1963).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_PARETOFRONTIER_H
#define WEIR_PASSES_REMAT_PARETOFRONTIER_H

#include "passes/remat/Rewrite.h"

namespace weir::remat {

/// A choice, by the memory at the boundary.
struct ParetoPoint {
  Released released;
  double kept = 0, cost = 0;
  double price = 0; ///< of a byte, at which no choice is cheaper
};

class ParetoFrontier {
public:
  explicit ParetoFrontier(const Step &step);

  int boundary() const { return turn; }
  /// The actions that may be recomputed, and whose results are read after the boundary.
  const std::vector<int> &candidates() const { return actions; }
  /// The results of an action that may be offloaded, and are read after the boundary.
  llvm::SmallVector<int> goers(int action) const;
  /// From recomputing nothing to recomputing everything that helps.
  const std::vector<ParetoPoint> &all() const { return points; }
  /// A lower bound on the cost of every choice with an arena of so many bytes: at every price
  /// considered, no choice is cheaper than the corner found there.
  double boundAt(int64_t bytes) const;
  /// A lower bound on the bytes of the arena for every choice.
  int64_t least() const;

private:
  void findCandidates();
  void findFixed();
  ParetoPoint cut(double price) const;
  void findBetween(const ParetoPoint &low, const ParetoPoint &high, int depth);

  const Step &step;
  const int turn;
  std::vector<bool> needed; ///< tensors that are read at the boundary or after it
  std::vector<bool> wanted; ///< those, and tensors that recomputed actions may read
  std::vector<int> actions;
  int64_t fixed = 0; ///< bytes alive at the boundary for every choice
  double most = 0;   ///< no choice costs more
  std::vector<ParetoPoint> points;
};

} // namespace weir::remat

#endif
