//===- FlatPlan.h - A planned entry as a flat list of actions -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_FLATPLAN_H
#define WEIR_SUPPORT_PLANNED_FLATPLAN_H

#include "support/planned/ByteRanges.h"
#include "support/planned/Fault.h"
#include "support/planned/Plan.h"
#include "support/program/Limits.h"
#include <string_view>
#include <vector>

namespace weir::planned {

/// Stand where an action's number would, for what the host does.
constexpr uint32_t beforeEntry = UINT32_MAX;
constexpr uint32_t afterEntry = UINT32_MAX - 1;

/// How an access moves with one loop around it. Rounds that make no difference are no motion: a
/// modulus that the loop does not reach is 0, and so is the stride of one round.
struct Motion {
  int64_t bytes = 0;
  uint64_t modulus = 0;
  uint64_t last = 0; ///< the largest index that the stride is taken of

  /// Every round is elsewhere.
  bool travels() const { return bytes != 0 && modulus == 0; }
};

/// An access, or the contents that a buffer begins with, where it lies in its space.
struct Placed {
  const Access *access = nullptr; ///< null: contents
  uint32_t action = beforeEntry;
  uint32_t queue = 0;
  uint32_t buffer = 0;
  bool reads = false;
  bool writes = false;
  Space space = Space::scratch;
  uint64_t address = 0; ///< in its first round; what Access calls offset, from the space's start
  std::array<Motion, limits::loops> motions = {}; ///< by the loops' depth
  ByteRanges ranges;

  /// The action's number; none for what the host does.
  std::optional<uint32_t> number() const {
    return action < afterEntry ? std::optional(action) : std::nullopt;
  }
};

/// An action. Those of a loop's body stand behind it, up to `last`.
struct Step {
  const Action *action = nullptr;
  uint32_t last = 0;  ///< the last action of the body; of no loop, itself
  uint32_t depth = 0; ///< how many loops are around it
  uint32_t event = 0; ///< an index into FlatPlan::events
  // Ranges of FlatPlan::accesses and FlatPlan::records: its own, then those of its body.
  uint32_t accesses = 0, ownAccessesEnd = 0, accessesEnd = 0;
  uint32_t records = 0, recordsEnd = 0;
};

/// A view of the entry, which has to outlive it.
struct FlatPlan {
  const Entry &entry;
  std::vector<Step> steps;       ///< by number
  std::vector<Placed> accesses;  ///< the actions', in their order; then inputs, outputs, contents
  std::vector<uint32_t> events;  ///< those recorded or waited for, rising
  std::vector<uint32_t> records; ///< the events of the record actions, as indices into `events`
  uint32_t inputs = 0, outputs = 0, contents = 0; ///< where these begin in `accesses`

  explicit FlatPlan(const Entry &entry) : entry(entry) {}
  /// Checks what the other checks rely on: that everything named exists and loops are finite.
  Finding build();

  uint32_t lastAction() const { return steps.empty() ? 0 : uint32_t(steps.size()) - 1; }
};

/// Every buffer lies in its space and every access in its buffer, in all its rounds.
Finding checkBounds(const FlatPlan &plan);

/// Buffers alive together do not overlap, and each lives as long as it is used.
Finding checkLifetimes(const FlatPlan &plan);

} // namespace weir::planned

#endif
