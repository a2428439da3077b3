//===- Clocks.cpp - Vector clocks of queues and events --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Clocks.h"
#include <algorithm>

namespace weir::planned {

Clocks::Clocks(uint32_t queues, size_t events)
    : queueCount(std::max(queues, 1u)), clocks(queueCount + 1, Clock(queueCount + 1)),
      events(events), waited(queueCount + 1) {
  clocks[host()][host()] = clocks[0][host()] = inputs;
}

void Clocks::record(uint32_t queue, uint32_t event) {
  events[event].clock = clocks[queue];
  events[event].recordedOn = queue;
}

void Clocks::wait(uint32_t queue, uint32_t event) {
  const Event &of = events[event];
  if (of.clock.empty())
    return;
  for (uint32_t i = 0; i <= queueCount; ++i)
    clocks[queue][i] = std::max(clocks[queue][i], of.clock[i]);
  constexpr size_t remembered = 8;
  std::vector<Wait> &list = waited[queue];
  auto known = std::find_if(list.begin(), list.end(), [&](Wait w) { return w.event == event; });
  if (known == list.end() && list.size() < remembered)
    known = list.insert(list.end(), Wait{});
  else if (known == list.end())
    --known;
  *known = {event, of.recordedOn};
  std::rotate(list.begin(), known, known + 1);
}

} // namespace weir::planned
