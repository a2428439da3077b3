//===- NearestName.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/NearestName.h"
#include "support/Text.h"
#include <algorithm>

namespace weir {

constexpr size_t longestName = 128;

/// The optimal string alignment distance: the least number of letters that are added, dropped or
/// replaced, or swapped with a neighbour. Three rows of the table at a time.
static size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> beforePrevious, previous(to.size() + 1), current;
  for (size_t j = 0; j <= to.size(); ++j)
    previous[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    current.assign(to.size() + 1, i);
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = previous[j - 1] + (from[i - 1] != to[j - 1]);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        current[j] = std::min(current[j], beforePrevious[j - 2] + 1);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous.back();
}

std::optional<std::string> nearestName(std::string_view name,
                                       const std::vector<std::string> &candidates, size_t more) {
  if (name.size() > longestName)
    return std::nullopt;
  const std::string lower = lowerCase(name);
  for (const std::string &candidate : candidates)
    if (candidate != name && candidate.size() == name.size() && lowerCase(candidate) == lower)
      return candidate;
  const size_t most = name.size() / 3 + more;
  const std::string *best = nullptr;
  size_t least = most + 1;
  for (const std::string &candidate : candidates) {
    // At least as many edits as their lengths differ by.
    if (candidate == name || candidate.size() > name.size() + most ||
        candidate.size() + most < name.size())
      continue;
    // Every name becomes a short one if all letters may be replaced.
    if (size_t distance = editDistance(name, candidate);
        distance < least && distance < candidate.size()) {
      least = distance;
      best = &candidate;
    }
  }
  return best ? std::optional(*best) : std::nullopt;
}

std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates) {
  const std::optional<std::string> near = nearestName(name, candidates, 1);
  return near ? "; did you mean '" + *near + "'?" : "";
}

} // namespace weir
