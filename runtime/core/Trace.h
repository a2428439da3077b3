//===- Trace.h - When each action ran -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring of fixed size, so that tracing allocates nothing in a step and a long run keeps its newest
// events.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_TRACE_H
#define WEIR_RUNTIME_CORE_TRACE_H

#include <cstddef>
#include <cstdint>
#include <ctime>
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

  explicit Trace(size_t capacity) : ring(capacity) {}

  static int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
  }

  void record(const Event &event) { ring[recorded++ % ring.size()] = event; }

  /// Events recorded in all, those included that newer ones have replaced.
  uint64_t total() const { return recorded; }

  /// What the ring holds, oldest first.
  std::vector<Event> events() const {
    std::vector<Event> result;
    uint64_t first = recorded > ring.size() ? recorded - ring.size() : 0;
    for (uint64_t i = first; i < recorded; ++i)
      result.push_back(ring[i % ring.size()]);
    return result;
  }

private:
  std::vector<Event> ring;
  uint64_t recorded = 0;
};

} // namespace weir

#endif
