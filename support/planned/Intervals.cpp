//===- Intervals.cpp - The last accesses to each byte ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Intervals.h"
#include <iterator>

namespace weir::planned {

Intervals::Map::const_iterator Intervals::firstBehind(uint64_t place) const {
  auto it = segments.upper_bound(place);
  if (it != segments.begin() && std::prev(it)->second.end > place)
    --it;
  return it;
}

void Intervals::erase(uint64_t begin, uint64_t end) {
  if (segments.empty())
    return;
  ++effort->steps;
  effort->segments -= segments.size();
  auto it = segments.lower_bound(begin);
  if (it != segments.begin()) {
    auto before = std::prev(it);
    Segment whole = before->second;
    if (whole.end > begin) {
      before->second.end = begin;
      if (whole.end > end)
        segments.emplace_hint(it, end, whole);
    }
  }
  while (it != segments.end() && it->first < end) {
    Segment whole = it->second;
    ++effort->steps;
    it = segments.erase(it);
    if (whole.end > end)
      segments.emplace_hint(it, end, whole);
  }
  effort->segments += segments.size();
}

void Intervals::assign(uint64_t begin, uint64_t end, const Mark &mark) {
  ++effort->steps;
  auto it = segments.find(begin);
  if (it != segments.end() && it->second.end == end) {
    it->second.mark = mark;
  } else {
    erase(begin, end);
    it = segments.emplace(begin, Segment{end, mark}).first;
    ++effort->segments;
  }
  auto next = std::next(it);
  if (next != segments.end() && next->first == end && next->second.mark == mark) {
    it->second.end = next->second.end;
    segments.erase(next);
    --effort->segments;
  }
  if (it != segments.begin()) {
    auto before = std::prev(it);
    if (before->second.end == begin && before->second.mark == mark) {
      before->second.end = it->second.end;
      segments.erase(it);
      --effort->segments;
    }
  }
}

} // namespace weir::planned
