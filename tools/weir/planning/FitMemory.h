//===- FitMemory.h - Ways of a program into a budget ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options that would make a program fit are planned before they are named: each is compiled up to
// its kernels, whose order and memory are what they will be.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PLANNING_FITMEMORY_H
#define WEIR_TOOLS_WEIR_PLANNING_FITMEMORY_H

#include "passes/Pipeline.h"
#include <map>

namespace weir {

/// The divisors of `rows` in order; of many about so many, evenly spread by their ratios, the
/// smallest and the largest among them.
llvm::SmallVector<int64_t> divisorsOf(int64_t rows, size_t about = 8);

class FitMemory {
public:
  /// `module` is as the frontend makes it, stays so, and outlives this.
  explicit FitMemory(mlir::ModuleOp module) : module(module) {}

  /// The number of microbatches with which a step takes least time, by estimate, in the budget of
  /// `options`; 0 where it fits with none.
  int64_t bestMicrobatches(const PipelineOptions &options);

  /// What has to lie with the host so that the program fits; all that can where it fits in no way.
  /// With `cut`, in whatever number of microbatches fits. `options` has nothing lie there.
  Offload leastOffload(const PipelineOptions &options, bool cut);

  /// What the command line has besides `PipelineOptions`.
  struct Words {
    std::string budget = ""; ///< said ahead of --offload, where that wants another --memory
    bool hasFolder = false;  ///< --offload-dir is given
    int64_t ranks = 1;       ///< that share --threads
  };

  /// Tells a person whose program does not fit, line by line as they are found, options with which
  /// it does, and what they cost.
  void tellWays(const PipelineOptions &options, const Words &words,
                llvm::function_ref<void(const std::string &)> tell);

private:
  /// What the program takes with these options; nothing where it cannot be compiled so.
  std::optional<MemoryReport> tryOut(const PipelineOptions &options);
  std::optional<MemoryReport> fitting(const PipelineOptions &options) {
    std::optional<MemoryReport> report = tryOut(options);
    return report && report->fits ? report : std::nullopt;
  }
  /// The numbers of microbatches that its rows can be cut into, the recipe's first.
  llvm::SmallVector<int64_t> counts() const;
  /// Few microbatches beyond the recipe's with which it fits; 0 if there are none.
  std::pair<int64_t, MemoryReport> fewestThatFit(PipelineOptions options);

  // The kinds of suggestions that tellWays makes.
  struct Suggestions;
  void suggestOffload(Suggestions &found);
  /// `ahead` stands before the option: the others that `changed` has.
  void suggestMicrobatches(Suggestions &found, const std::string &ahead,
                           const PipelineOptions &changed);
  void suggestOffloadAndMicrobatches(Suggestions &found);
  void suggestThreads(Suggestions &found);
  void suggestPrecision(Suggestions &found);
  void suggestParamType(Suggestions &found);
  /// The least offloading with which `changed` fits; `more` stands behind the option.
  void suggestLeastOffload(Suggestions &found, PipelineOptions changed, const std::string &more);

  mlir::ModuleOp module;
  std::map<std::string, std::optional<MemoryReport>> tried; ///< by what differs
};

} // namespace weir

#endif
