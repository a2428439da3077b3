//===- Stragglers.h - Finds slow ranks ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ranks take the same time for a step, because they wait for each other. The time that a rank
// takes without waiting shows which one the others wait for. Its machine may be too hot, shared
// with other programs, or slow at reading data.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCH_STRAGGLERS_H
#define WEIR_RUNTIME_RUN_LAUNCH_STRAGGLERS_H

#include <cstdint>
#include <vector>

namespace weir {

class Stragglers {
public:
  /// So many steps in a row, each taking more than so many times the median, make a rank slow, and
  /// as many others make it a usual one again. Of an even number of ranks the median is the faster
  /// of the two in the middle. A step that is longer by less than `least` seconds is not.
  static constexpr int64_t steps = 50;
  static constexpr double factor = 1.5, least = 1e-3;

  struct Change {
    int64_t rank;
    bool isSlow;            ///< from now on
    double seconds, median; ///< of a step, on average over those steps
  };

  /// What each rank took for a step, without waiting, in seconds.
  std::vector<Change> add(const std::vector<double> &seconds);

private:
  struct Rank {
    bool isSlow = false;
    int64_t others = 0; ///< steps in a row that say otherwise
    double seconds = 0, median = 0;
  };
  std::vector<Rank> ranks;
};

} // namespace weir

#endif
