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
  int64_t given = -1; ///< which of Allowed::given it is
};

/// What a search leaves to whoever asks.
struct Allowed {
  std::vector<std::string> axes = {"pp", "dp", "ep", "cp", "tp"};
  bool fewer = true;    ///< of the devices, where that is faster
  int64_t lowered = 32; ///< plans at most
  /// These alone, and nothing is searched: the first `lowered` of them are lowered, the others
  /// estimated. What does not fit is listed too.
  std::vector<Strategy> given = {};
  /// Is told of each sample and each plan that is lowered: long work shows progress.
  std::function<void(int64_t done)> tell = nullptr;
};

struct SearchResult {
  std::vector<Planned> best; ///< that fit, the fastest first
  int64_t examined = 0, samples = 0, lowered = 0;
  /// No plan takes less, in seconds: all work, spread over all devices at their best rates.
  double bound = 0;
  /// Why axes that were allowed are not used, by their names.
  std::map<std::string, std::string> reasons = {};
  std::vector<std::pair<int64_t, std::string>> unpredicted = {}; ///< of Allowed::given, and why
  std::optional<Planned> smallest = {}; ///< what takes least memory, where nothing fits
};

/// Of the strategy of `options`, what is given stays so, and the rest is searched for.
SearchResult search(mlir::ModuleOp model, const PipelineOptions &options, const Cluster &cluster,
                    Facts &facts, const Allowed &allowed);

} // namespace weir::planner

#endif
