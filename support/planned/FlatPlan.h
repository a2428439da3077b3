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

/// Used in place of an action's number, for the host's accesses.
constexpr uint32_t beforeEntry = UINT32_MAX;
constexpr uint32_t afterEntry = UINT32_MAX - 1;

/// How an access moves with one loop around it. Rounds that make no difference are normalized: a
/// modulus that the loop does not reach is 0, and so is the stride of a single round.
struct Motion {
  int64_t bytes = 0;
  uint64_t modulus = 0;
  uint64_t last = 0; ///< the largest index that the stride is multiplied by

  /// Every round accesses another place.
  bool travels() const { return bytes != 0 && modulus == 0; }
};

/// An access, or the initial contents of a buffer, at its place in its space.
struct Placed {
  const Access *access = nullptr; ///< null: initial contents
  uint32_t action = beforeEntry;
  uint32_t queue = 0;
  uint32_t buffer = 0;
  bool reads = false;
  bool writes = false;
  Space space = Space::scratch;
  uint64_t address = 0; ///< in its first round; the access's offset, from the start of the space
  std::array<Motion, limits::loops> motions = {}; ///< by the depth of the loops
  ByteRanges ranges;

  /// The number of the action; none for the host's accesses.
  std::optional<uint32_t> number() const {
    return action < afterEntry ? std::optional(action) : std::nullopt;
  }
};

/// An action. The actions of a loop's body follow it, up to `last`.
struct Step {
  const Action *action = nullptr;
  uint32_t last = 0;  ///< the last action of the body; without a loop, itself
  uint32_t depth = 0; ///< number of loops around it
  uint32_t event = 0; ///< index in FlatPlan::events
  // Ranges of FlatPlan::accesses and FlatPlan::records: its own, then those of its body.
  uint32_t accesses = 0, ownAccessesEnd = 0, accessesEnd = 0;
  uint32_t records = 0, recordsEnd = 0;
};

/// A view of the entry, which must outlive it.
struct FlatPlan {
  const Entry &entry;
  std::vector<Step> steps;       ///< by number
  std::vector<Placed> accesses;  ///< of the actions, in order; then inputs, outputs, contents
  std::vector<uint32_t> events;  ///< recorded or waited for, ascending
  std::vector<uint32_t> records; ///< the events of the record actions, as indices in `events`
  uint32_t inputs = 0, outputs = 0, contents = 0; ///< where these begin in `accesses`

  explicit FlatPlan(const Entry &entry) : entry(entry) {}
  /// Checks what the other checks rely on: everything that is named exists, and loops are finite.
  Finding build();

  uint32_t lastAction() const { return steps.empty() ? 0 : uint32_t(steps.size()) - 1; }
};

/// Checks that every buffer is in its space and every access in its buffer, in all its rounds.
Finding checkBounds(const FlatPlan &plan);

/// Checks that buffers that are alive together do not overlap, and that each is alive while it is
/// used.
Finding checkLifetimes(const FlatPlan &plan);

} // namespace weir::planned

#endif
