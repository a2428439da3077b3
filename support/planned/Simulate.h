//===- Simulate.h - Predicts the time of an entry -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates queues and events with clocks. Assumes that the other members of a collective reach it
// at the same time as this rank.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_SIMULATE_H
#define WEIR_SUPPORT_PLANNED_SIMULATE_H

#include <cstdint>
#include <optional>
#include <vector>

namespace weir::planned {

/// An action and its time.
struct TimedAction {
  enum class Kind : uint8_t { work, collective, record, wait, loop, send, sending, receive };
  Kind kind = Kind::work;
  uint32_t queue = 0;
  double seconds =
      0; ///< of work, collectives and blocking sends; of other sends, until the data has arrived
  uint32_t event = 0;
  uint64_t count = 0; ///< rounds of a loop
  bool again = false; ///< recomputation
  // For an end of a transfer, which is in no loop:
  uint32_t peer = 0;   ///< the other end, as an index of the simulated ranks
  uint32_t number = 0; ///< the same at both ends
  uint32_t round = 0;  ///< the microbatch
  std::vector<TimedAction> body = {};
};

/// The time at which queue 0 has done everything, in seconds from the start of the entry. Simulates
/// some rounds of a long loop; the other rounds take as long as the last of these.
double secondsOf(const std::vector<TimedAction> &actions);

/// The time at which all of several ranks are done. Each runs its actions in order: a receive waits
/// for the send with its numbers, and the sends between two ranks run one after the other. Nothing
/// if ranks wait forever.
std::optional<double> secondsOf(const std::vector<std::vector<TimedAction>> &ranks);

/// The total time of the actions for which `counts` holds, without overlap; loops count with all
/// their rounds.
double sumOf(const std::vector<TimedAction> &actions, bool (*counts)(const TimedAction &));

/// Predicted seconds of an entry.
struct EntryTime {
  double all = 0;
  double communicating = 0; ///< total time of its collectives, without overlap
  double exposed = 0;       ///< the time that it would save if these were free
};
EntryTime timeOf(const std::vector<TimedAction> &actions);

/// The same actions, with free collectives and transfers.
std::vector<TimedAction> withoutCollectives(std::vector<TimedAction> actions);

/// The same actions, all on queue 0.
std::vector<TimedAction> onOneQueue(std::vector<TimedAction> actions);

} // namespace weir::planned

#endif
