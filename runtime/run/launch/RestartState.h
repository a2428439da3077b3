//===- RestartState.h - State that outlives a restarted process -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCH_RESTARTSTATE_H
#define WEIR_RUNTIME_RUN_LAUNCH_RESTARTSTATE_H

#include <atomic>
#include <cstdint>

namespace weir {

/// State that outlives a restarted process (Restarts.h): parent and child share its memory.
struct RestartState {
  std::atomic<int64_t> steps = 0; ///< completed by this process
  /// The step of the last complete checkpoint; -1: none. notBegun until the run has opened its
  /// checkpoint folder, if it has one.
  static constexpr int64_t notBegun = -2;
  std::atomic<int64_t> saved = notBegun;
  std::atomic<int64_t> generation = 0; ///< of its last group (Group.h); 0: none
  std::atomic<bool> isNotMet = false;  ///< it ended because it could not meet the others
  int64_t starts = 1;                  ///< including the current process
};

} // namespace weir

#endif
