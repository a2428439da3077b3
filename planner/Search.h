//===- Search.h - The fastest strategies for a model on a cluster ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates every mesh of the devices, with each ZeRO stage, number of microbatches, schedule and
// choice of recomputation that may help (Estimate.h). Then it lowers the best of them, which gives
// their exact memory and simulated time (Lower.h). The number of strategies limits the search, not
// a clock: the same model and cluster give the same answer.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_SEARCH_H
#define WEIR_PLANNER_SEARCH_H

#include "planner/Estimate.h"
#include <functional>

namespace weir::planner {

struct Planned {
  Strategy strategy;
  Prediction prediction;
  int64_t given = -1; ///< index in Allowed::given
};

/// How far a search has come.
struct SearchProgress {
  int64_t estimated = 0, lowered = 0; ///< plans
  const Planned *fastest = nullptr;   ///< of the plans that fit; null: none yet
};

/// Constraints that a search gets from its caller.
struct Allowed {
  std::vector<std::string> axes = {"pp", "dp", "ep", "cp", "tp"};
  bool fewer = true;    ///< may leave devices unused if that is faster
  int64_t lowered = 32; ///< the most plans to lower
  /// Evaluates only these plans, without a search: lowers the first `lowered` of them, and
  /// estimates the others. The result includes plans that do not fit.
  std::vector<Strategy> given = {};
  /// Called for each estimated and each lowered plan.
  std::function<void(const SearchProgress &)> tell = nullptr;
};

struct SearchResult {
  std::vector<Planned> best; ///< plans that fit, the fastest first
  int64_t examined = 0, samples = 0, lowered = 0;
  /// A lower bound in seconds for every plan: all work, spread over all devices at their best
  /// rates.
  double bound = 0;
  /// Why allowed axes are not used, by name.
  std::map<std::string, std::string> reasons = {};
  std::vector<std::pair<int64_t, std::string>> unpredicted =
      {};                               ///< indices in Allowed::given, and why
  std::optional<Planned> smallest = {}; ///< the plan with the least memory, if none fits
};

/// Keeps the fields that the strategy of `options` sets, and searches for the others.
SearchResult search(mlir::ModuleOp model, const PipelineOptions &options, const Cluster &cluster,
                    Facts &facts, const Allowed &allowed);

} // namespace weir::planner

#endif
