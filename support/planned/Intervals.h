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

/// One happening of an access: the `sequence`-th work of its queue.
struct Mark {
  uint32_t access = 0; ///< an index into FlatPlan::accesses
  uint32_t queue = 0;
  uint64_t sequence = 0;
  bool operator==(const Mark &) const = default;
};

/// What following an entry has taken so far.
struct Effort {
  uint64_t steps = 0;    ///< look-ups and what they met
  uint64_t segments = 0; ///< that are stored now
};

/// A mark for each byte that has one. Bytes with the same mark are one segment, so that whoever
/// marks many bytes leaves one: over all assignments, each costs a constant number of look-ups.
class Intervals {
public:
  explicit Intervals(Effort &effort) : effort(&effort) {}

  void assign(uint64_t begin, uint64_t end, const Mark &mark);
  void erase(uint64_t begin, uint64_t end);

  /// Calls visitor(begin, end, mark) for the segments in the range, cut to it, in order, until one
  /// returns false.
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

  /// The first segment that ends behind `place`.
  Map::const_iterator firstBehind(uint64_t place) const;

  Map segments;
  Effort *effort;
};

} // namespace weir::planned

#endif
