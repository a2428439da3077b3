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

/// An action and what it takes.
struct TimedAction {
  enum class Kind : uint8_t { work, collective, record, wait, loop, send, sending, receive };
  Kind kind = Kind::work;
  uint32_t queue = 0;
  double seconds = 0; ///< of work, of collectives, and of sending, which is waiting for a send
                      ///< beside which nothing is computed; of a send, until it has come
  uint32_t event = 0;
  uint64_t count = 0; ///< rounds of a loop
  bool again = false; ///< work that has been done before
  // An end of a transfer's, which stands in no loop.
  uint32_t peer = 0;   ///< the other end, as it is counted among the ranks that are followed
  uint32_t number = 0; ///< that both ends have
  uint32_t round = 0;  ///< and the microbatch
  std::vector<TimedAction> body = {};
};

/// When queue 0 has done all, in seconds from the entry's begin. Loops of many rounds are followed
/// for some, and the others take as long as the last of these.
double secondsOf(const std::vector<TimedAction> &actions);

/// When all of several ranks are done that each do their actions as they come to them: a receive
/// waits for what is sent under its numbers, and between two ranks one send goes after the other.
/// Nothing where some wait for ever.
std::optional<double> secondsOf(const std::vector<std::vector<TimedAction>> &ranks);

/// What the actions that `counts` holds for take, one after the other; loops as often as they go.
double sumOf(const std::vector<TimedAction> &actions, bool (*counts)(const TimedAction &));

/// Seconds of an entry.
struct EntryTime {
  double all = 0;
  double communicating = 0; ///< what its collectives take, one after the other
  double exposed = 0;       ///< what it would take less if they took nothing
};
EntryTime timeOf(const std::vector<TimedAction> &actions);

/// The same actions where collectives and transfers take nothing.
std::vector<TimedAction> withoutCollectives(std::vector<TimedAction> actions);

/// The same actions, all of them on queue 0.
std::vector<TimedAction> onOneQueue(std::vector<TimedAction> actions);

} // namespace weir::planned

#endif
