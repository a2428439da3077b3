//===- Intervals.h - The last accesses to each byte -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_INTERVALS_H
#define WEIR_SUPPORT_PLANNED_INTERVALS_H

#include <cstdint>
#include <map>

namespace weir::planned {

/// One occurrence of an access: as the work number `sequence` of its queue.
struct Mark {
  uint32_t access = 0; ///< index in FlatPlan::accesses
  uint32_t queue = 0;
  uint64_t sequence = 0;
  bool operator==(const Mark &) const = default;
};

/// The cost of the simulation so far.
struct Effort {
  uint64_t steps = 0;    ///< look-ups, and the segments that they visit
  uint64_t segments = 0; ///< stored now
};

/// A mark for each byte that has one. Bytes with the same mark form one segment, so marking many
/// bytes leaves one segment: amortized over all assignments, each costs a constant number of
/// look-ups.
class Intervals {
public:
  explicit Intervals(Effort &effort) : effort(&effort) {}

  void assign(uint64_t begin, uint64_t end, const Mark &mark);
  void erase(uint64_t begin, uint64_t end);

  /// Calls visitor(begin, end, mark) for the segments in the range, clipped to it, in order, until
  /// a call returns false.
  template <typename Visitor> void visit(uint64_t begin, uint64_t end, Visitor visitor) const {
    if (segments.empty())
      return;
    ++effort->steps;
    for (auto it = firstBehind(begin); it != segments.end() && it->first < end; ++it) {
      ++effort->steps;
      uint64_t from = it->first < begin ? begin : it->first;
      uint64_t to = it->second.end < end ? it->second.end : end;
      if (!visitor(from, to, it->second.mark))
        return;
    }
  }

private:
  struct Segment {
    uint64_t end;
    Mark mark;
  };
  using Map = std::map<uint64_t, Segment>; // by their begins

  /// The first segment that ends after `place`.
  Map::const_iterator firstBehind(uint64_t place) const;

  Map segments;
  Effort *effort;
};

} // namespace weir::planned

#endif
