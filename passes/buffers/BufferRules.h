//===- BufferRules.h - Which tensors of an entry share memory -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry as tensors with sizes and actions in order, and the rules that give each tensor its
// memory. The rules are stated here once. passes/remat measures the arena of an entry with them,
// and passes/lower takes the buffers of a plan from them:
//
//   direct  The result of a kernel, a collective or an unpack that is written to a variable, or
//           carried into the next round of a loop, lies in that memory if nothing reads the old
//           values later. The action itself may read them where it writes in place.
//   lent    Otherwise, a result of a kernel lies in an input's buffer if the kernel writes it in
//           place, is the last reader of the input, reads it once, and is in the input's block.
//           Both have the same size. A block argument, a value that another section of microbatches
//           reads, and a value that a variable gets at the end lend nothing.
//   own     Otherwise it has a buffer of its own.
//   kept    What lies in a variable's memory is copied if the host or another variable reads it
//           after the variable has its next value.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_BUFFERS_BUFFERRULES_H
#define WEIR_PASSES_BUFFERS_BUFFERRULES_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace weir {

/// Offloading smaller tensors is not worth the time of their transfers.
constexpr int64_t smallestOffloaded = 1024; ///< bytes

} // namespace weir

namespace weir::buffers {

struct Tensor {
  int64_t bytes = 0;      ///< of scratch, aligned; 0: it lies in a variable or with the host
  int64_t padding = 0;    ///< bytes of these that alignment adds
  int scope = 0;          ///< the block that it is a value of, by number
  bool lends = true;      ///< its memory may become a result's: not that of arguments and variables
  bool isInput = false;   ///< the host writes it ahead of the first action, whoever reads it
  bool isPort = false;    ///< the host reads it at the end
  int variable = -1;      ///< that it is written to
  int readsVariable = -1; ///< whose old values it is
  int outer = -1;         ///< the loop that it is used in from outside, by number of Step::loops
  int madeBy = -1;        ///< an action; -1: it is there from the start
  bool isGradient = false; ///< it is computed from gradients
  int copyOf = -1;         ///< the tensor of the original step whose values it has
  int regathered = -1;     ///< the tensor with the same values that a later all-gather makes
  double transfer = 0; ///< seconds to the host's memory and back, in all rounds; 0: it must not go
};

struct Action {
  llvm::SmallVector<int> reads, writes;                     ///< tensors
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace; ///< (write, read)
  int scope = 0;               ///< the block that it stands in, by number
  bool writesDirectly = false; ///< its results may be a variable's memory
  bool keepsVariable = false;  ///< it copies, and only what lies in a variable's memory
  int64_t workspace = 0;       ///< bytes, aligned
  double cost = 0;             ///< the time of all its runs, in seconds of the target's description
  bool repeats = false;        ///< may be done again, for the same results
  bool marked = false;         ///< repeats, and is to: no gradient reads its results, but copies
  bool isBackward = false;     ///< makes gradients
  int again = -1;              ///< the action of the original step that it repeats
  int away = -1;               ///< the tensor of the original step that it puts or fetches
};

/// What happens in an entry. Actions [first, last] of a loop happen many times.
struct Step {
  std::vector<Tensor> tensors;
  std::vector<Action> actions;
  std::vector<std::pair<int, int>> loops;
  /// The stretch of actions in which some may be repeated: an entry's own, or where there are loops
  /// those of the largest.
  int begin = 0, end = 0;
};

struct Memory {
  int64_t bytes = 0;          ///< the arena's scratch
  bool isPlaced = false;      ///< whether they are that, and not what is alive at once
  int peak = 0;               ///< the action at which most is alive
  std::vector<int64_t> alive; ///< bytes by action
  /// By tensor, the actions for which it is in memory; first > last: it has none, or a variable's.
  std::vector<std::pair<int, int>> lifetimes;
  std::vector<int> buffers; ///< by tensor: equal where one lies in another's place; -1: none

  bool isAlive(int tensor, int action) const {
    return lifetimes[tensor].first <= action && action <= lifetimes[tensor].second;
  }
};

/// Gives each tensor its memory, and places every buffer as passes/memory does. If more than `most`
/// bytes are alive at once, nothing is placed, and `bytes` are those that are alive.
Memory measure(const Step &step, int64_t most = INT64_MAX);

} // namespace weir::buffers

#endif
