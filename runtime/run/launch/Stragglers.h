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
  /// A rank is slow after `steps` steps in a row, each of which takes more than `factor` times the
  /// median and at least `least` seconds more than it. After as many other steps, it is normal
  /// again. For an even number of ranks, the median is the faster of the two in the middle.
  static constexpr int64_t steps = 50;
  static constexpr double factor = 1.5, least = 1e-3;

  struct Change {
    int64_t rank;
    bool isSlow;            ///< from now on
    double seconds, median; ///< of a step, on average over those steps
  };

  /// `seconds`: each rank's time for a step, without waiting.
  std::vector<Change> add(const std::vector<double> &seconds);

private:
  struct Rank {
    bool isSlow = false;
    int64_t others = 0; ///< steps in a row that contradict isSlow
    double seconds = 0, median = 0;
  };
  std::vector<Rank> ranks;
};

} // namespace weir

#endif
