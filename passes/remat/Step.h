//===- Step.h - What an entry holds in memory, action by action -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model of memory before there are buffers: tensors with sizes, and actions in order. It
// follows the rules of passes/lower (what is written in place, and where) and places what results
// as passes/memory does, so that what it says is the arena and no guess at it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_STEP_H
#define WEIR_PASSES_REMAT_STEP_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::remat {

/// How a tensor is computed a second time.
struct Recipe {
  int source = -1; ///< the caller's number of it; -1: the tensor cannot be computed again
  llvm::SmallVector<int> reads;                                ///< tensors
  llvm::SmallVector<int64_t> besides;                          ///< bytes of results nobody reads
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;    ///< (result, read); result 0 is it
  int64_t workspace = 0;
  int64_t cost = 0; ///< what choices are compared by
};

struct Tensor {
  int64_t bytes = 0;   ///< of scratch, aligned; 0: a variable's own memory
  bool lends = true;   ///< its memory may become a result's: not that of arguments and variables
  bool isPort = false; ///< the host reads it at the end
  int variable = -1;   ///< that it is written to
  int readsVariable = -1;
  int outer = -1; ///< the loop that it is used in from outside, by number of Step::loops
  Recipe recipe;
};

struct Action {
  llvm::SmallVector<int> reads, writes;
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace; ///< (write, read)
  bool writesDirectly = false; ///< its results may be a variable's memory
  int64_t workspace = 0;
  int again = -1; ///< the tensor of the original step that it computes again
};

/// What happens in an entry. Actions [first, last] of a loop happen many times.
struct Step {
  std::vector<Tensor> tensors;
  std::vector<Action> actions;
  std::vector<std::pair<int, int>> loops;
  /// The stretch of actions in which tensors may be computed again: an entry's own, or those of the
  /// loop that has most of them.
  int begin = 0, end = 0;
};

struct Memory {
  int64_t bytes = 0;                  ///< the arena's scratch
  int peak = 0;                       ///< the action at which most is alive
  std::vector<int64_t> alive;         ///< bytes by action
  std::vector<std::pair<int, int>> lifetimes; ///< by tensor; first > last: no memory of its own
};

/// What the step takes: every buffer placed.
Memory measure(const Step &step);

/// The step with `dropped` tensors (by number) computed again where they are first needed at
/// `boundary` or behind it, rather than kept. Of what is dropped and read by nothing there, nothing
/// changes.
struct Rewritten {
  Step step;
  int64_t cost = 0;
  std::vector<int> again; ///< tensors, in the order in which they are computed
};
Rewritten rewrite(const Step &step, int boundary, const std::vector<bool> &dropped);

/// The tensors made in the stretch before `boundary`.
std::vector<bool> madeBefore(const Step &step, int boundary);

/// Of these, those that are read at `boundary` or behind it.
std::vector<bool> readBehind(const Step &step, int boundary);

} // namespace weir::remat

#endif
