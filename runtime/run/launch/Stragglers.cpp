//===- Stragglers.cpp - Finds slow ranks ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Stragglers.h"
#include <algorithm>

namespace weir {

std::vector<Stragglers::Change> Stragglers::add(const std::vector<double> &seconds) {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const double median = sorted[(sorted.size() - 1) / 2];
  ranks.resize(seconds.size());
  std::vector<Change> changes;
  for (size_t i = 0; i < seconds.size(); ++i) {
    Rank &rank = ranks[i];
    bool isLong = seconds[i] > factor * median && seconds[i] - median > least;
    if (isLong == rank.isSlow) {
      rank = {rank.isSlow};
      continue;
    }
    ++rank.others;
    rank.seconds += seconds[i] / steps;
    rank.median += median / steps;
    if (rank.others < steps)
      continue;
    changes.push_back({int64_t(i), isLong, rank.seconds, rank.median});
    rank = {isLong};
  }
  return changes;
}

} // namespace weir
