//===- Clocks.h - Vector clocks of queues and events ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_CLOCKS_H
#define WEIR_SUPPORT_PLANNED_CLOCKS_H

#include "support/planned/Intervals.h"
#include <array>
#include <string>
#include <vector>

namespace weir::planned {

/// Vector clocks (Mattern, Virtual time and global states of distributed systems, 1989), one for
/// each queue and one for each event. For each queue, a clock says how much of its work is done
/// before the next work that is issued. The host counts as one more queue, host(): its first work
/// is the entry's contents, its second the inputs, and both are done before queue 0 begins.
class Clocks {
public:
  static constexpr uint64_t contents = 1, inputs = 2;
  using Clock = std::vector<uint64_t>;

  Clocks(uint32_t queues, size_t events);

  uint32_t host() const { return queueCount; }
  uint32_t queues() const { return queueCount; }
  const Clock &of(uint32_t queue) const { return clocks[queue]; }
  /// Empty if it has not been recorded.
  const Clock &ofEvent(uint32_t event) const { return events[event].clock; }
  /// How much work has been issued on the queue, or by the host.
  uint64_t issued(uint32_t queue) const { return clocks[queue][queue]; }

  /// Issues work, and returns the sequence number of its mark.
  uint64_t issue(uint32_t queue) { return ++clocks[queue][queue]; }
  void record(uint32_t queue, uint32_t event);
  void wait(uint32_t queue, uint32_t event);

  /// Whether the mark's work is done before the next work on the queue.
  bool sees(uint32_t queue, const Mark &mark) const {
    return mark.sequence <= clocks[queue][mark.queue];
  }
  /// Whether the queue begins after the entry does.
  bool forked(uint32_t queue) const { return clocks[queue][host()] != 0; }

  struct Wait {
    uint32_t event, recordedOn;
  };
  /// The last distinct events that the queue has waited for, the latest first.
  const std::vector<Wait> &waits(uint32_t queue) const { return waited[queue]; }

private:
  struct Event {
    Clock clock;
    uint32_t recordedOn = 0;
  };
  uint32_t queueCount;
  std::vector<Clock> clocks;
  std::vector<Event> events;
  std::vector<std::vector<Wait>> waited;
};

} // namespace weir::planned

#endif
