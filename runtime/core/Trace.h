//===- Trace.h - When each action ran -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring of fixed size, so that tracing allocates nothing in a step and a long run keeps its newest
// events; and, of all events, a sum for each action. A thread may read what another records: where
// a rank is lost while this one computes, its last actions are written.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_TRACE_H
#define WEIR_RUNTIME_CORE_TRACE_H

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

namespace weir {

class Trace {
public:
  struct Event {
    uint32_t entry;  ///< index into the artifact's entries
    uint32_t action; ///< numbered depth first, as in the artifact
    uint32_t round;  ///< of the loops around it, counted over all their rounds; else 0
    int64_t start;   ///< nanoseconds of the monotonic clock
    int64_t end;
  };

  /// All runs of one action together.
  struct Sum {
    uint64_t runs = 0;
    int64_t time = 0; ///< nanoseconds
  };
  /// Of one entry, at each action's number.
  using Sums = std::vector<Sum>;

  /// Keeps the newest `capacity` events. `sums` are empty ones for all actions of all entries, or
  /// none: nothing is summed then.
  Trace(size_t capacity, std::vector<Sums> sums) : ring(capacity), summed(std::move(sums)) {}

  static int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
  }

  void record(const Event &event) {
    std::lock_guard lock(mutex);
    if (!ring.empty())
      ring[recorded % ring.size()] = event;
    ++recorded;
    if (!summed.empty()) {
      Sum &sum = summed[event.entry][event.action];
      ++sum.runs;
      sum.time += event.end - event.start;
    }
  }

  /// Events recorded in all, those included that newer ones have replaced.
  uint64_t total() const {
    std::lock_guard lock(mutex);
    return recorded;
  }

  /// What the ring holds, oldest first.
  std::vector<Event> events() const {
    std::lock_guard lock(mutex);
    std::vector<Event> result;
    uint64_t first = recorded > ring.size() ? recorded - ring.size() : 0;
    for (uint64_t i = first; i < recorded; ++i)
      result.push_back(ring[i % ring.size()]);
    return result;
  }

  /// Of the entry of that number; not asked where nothing is summed, or while events are recorded.
  const Sums &sums(uint32_t entry) const { return summed.at(entry); }

private:
  mutable std::mutex mutex;
  std::vector<Event> ring;
  std::vector<Sums> summed;
  uint64_t recorded = 0;
};

} // namespace weir

#endif
