//===- QueueSimulation.h - Simulates the queues of all ranks --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_QUEUESIMULATION_H
#define WEIR_SUPPORT_PLANNED_QUEUESIMULATION_H

#include "support/planned/Ranks.h"
#include <deque>
#include <map>
#include <optional>
#include <string_view>

namespace weir::planned {

/// A rank's position in its entry: the next action that it runs or issues to a queue, or the end.
class Position {
public:
  explicit Position(const std::vector<SyncPoint> &syncPoints) : frames{{&syncPoints}} { settle(); }

  /// Null at the end.
  const SyncPoint *at() const {
    return frames.empty() ? nullptr : &(*frames.back().list)[frames.back().index];
  }
  void advance() {
    ++frames.back().index;
    settle();
  }
  /// Whether both are in the same rounds of loops with equal counts.
  bool isInRoundsOf(const Position &other) const;
  /// "in round 2 of 4", or "in no loop".
  std::string rounds() const;

private:
  struct Frame {
    const std::vector<SyncPoint> *list;
    const SyncPoint *loop = nullptr; ///< null: the entry itself
    size_t index = 0;
    uint64_t round = 0;
  };
  void settle();

  std::vector<Frame> frames; ///< the outermost first
};

/// A rank under simulation: queue 0 runs its own actions, and issues those of the others.
class SimulatedRank {
public:
  explicit SimulatedRank(const std::vector<SyncPoint> &syncPoints) : issued(syncPoints) {}

  /// Continues as far as possible, or until it has taken more than `most` steps. Returns the number
  /// of steps, and adds to `come` the axes along which it has reached a collective.
  uint64_t move(uint64_t most, std::vector<std::string_view> &come);

  /// The end of a transfer that it has reached; null if it has not.
  const SyncPoint *transfer() const;
  void passTransfer() { issued.advance(); }

  /// The collective along that axis that it has reached; null if it has not.
  const Position *hereAlong(std::string_view axis) const;
  /// All members have reached it.
  void pass(std::string_view axis);

  /// The collective that keeps it from reaching a collective along an axis, or its end. Null if it
  /// has ended.
  const Position *keptFrom(std::string_view axis) const;
  /// The same for its next action; null if it has ended.
  const Position *waitsIn() const;

private:
  /// Work that was issued to a queue: a collective, or a wait for a moment of another queue.
  struct Job {
    std::optional<Position> collective;
    uint32_t queue = 0;
    uint64_t moment = 0; ///< reached after so many
  };
  struct Queue {
    std::deque<Job> jobs;
    uint64_t given = 0, done = 0;
  };

  bool issue(std::vector<std::string_view> &come);
  bool work(Queue &queue, std::vector<std::string_view> &come);
  const Position *waitsIn(uint32_t queue, size_t depth = 0) const;

  Position issued;
  std::map<uint32_t, Queue> queues;                         ///< all except 0
  std::map<uint32_t, std::pair<uint32_t, uint64_t>> events; ///< a queue, and its moment
  std::map<std::string_view, Position> here;                ///< by axis
  std::map<std::string_view, uint32_t> queueOf;             ///< of the axes reached so far
};

} // namespace weir::planned

#endif
