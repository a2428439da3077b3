//===- Simulate.h - How long an entry's actions take ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows queues and events by the clock. It is of one rank, whose members are taken to come to
// each collective when it does.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_PLANNED_SIMULATE_H
#define WEIR_RUNTIME_PLANNED_SIMULATE_H

#include <cstdint>
#include <vector>

namespace weir::planned {

/// An action and what it takes.
struct TimedAction {
  enum class Kind : uint8_t { work, collective, record, wait, loop }; ///< as planned::Action::Kind
  Kind kind = Kind::work;
  uint32_t queue = 0;
  double seconds = 0; ///< of work and of collectives
  uint32_t event = 0;
  uint64_t count = 0; ///< rounds of a loop
  std::vector<TimedAction> body = {};
};

/// When queue 0 has done all, in seconds from the entry's begin. Loops of many rounds are followed
/// for some, and the others take as long as the last of these.
double secondsOf(const std::vector<TimedAction> &actions);

/// Seconds of an entry.
struct EntryTime {
  double all = 0;
  double communicating = 0; ///< what its collectives take, one after the other
  double exposed = 0;       ///< what it would take less if they took nothing
};
EntryTime timeOf(const std::vector<TimedAction> &actions);

/// The same actions where collectives take nothing.
std::vector<TimedAction> withoutCollectives(std::vector<TimedAction> actions);

/// The same actions, all of them on queue 0.
std::vector<TimedAction> onOneQueue(std::vector<TimedAction> actions);

} // namespace weir::planned

#endif
