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

/// What outlives a process where one stands behind it (Restarts.h): it is in memory of both.
struct RestartState {
  std::atomic<int64_t> steps = 0; ///< that this process has done
  /// The step of the last complete checkpoint; -1: none. Before its folder, if there is one, has
  /// been taken for the run: notBegun.
  static constexpr int64_t notBegun = -2;
  std::atomic<int64_t> saved = notBegun;
  std::atomic<int64_t> generation = 0; ///< the newest that it was of (Group.h); 0: none
  std::atomic<bool> isNotMet = false;  ///< it ended for want of others who could be met
  int64_t starts = 1;                  ///< the process before it included
};

} // namespace weir

#endif
