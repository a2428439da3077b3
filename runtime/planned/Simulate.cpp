//===- Simulate.cpp - How long an entry's actions take --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/planned/Simulate.h"
#include <algorithm>
#include <map>

namespace weir::planned {
namespace {

constexpr uint64_t mostRounds = 64;

class Clocks {
public:
  void run(const std::vector<TimedAction> &actions) {
    for (const TimedAction &action : actions)
      run(action);
  }

  double now(uint32_t queue) { return queues[queue]; }

private:
  using Kind = TimedAction::Kind;

  void run(const TimedAction &action) {
    if (action.kind == Kind::loop)
      loop(action);
    else if (action.kind == Kind::record)
      events[action.event] = queues[action.queue];
    else if (action.kind == Kind::wait)
      queues[action.queue] = std::max(queues[action.queue], events[action.event]);
    else
      queues[action.queue] += action.seconds;
  }

  void loop(const TimedAction &action) {
    double before = 0;
    uint64_t followed = std::min(action.count, mostRounds);
    for (uint64_t round = 0; round < followed; ++round) {
      before = queues[0];
      run(action.body);
    }
    double more = double(action.count - followed) * (queues[0] - before);
    for (auto &[queue, time] : queues)
      time += more;
    for (auto &[event, time] : events)
      time += more;
  }

  std::map<uint32_t, double> queues, events;
};

double sumOfCollectives(const std::vector<TimedAction> &actions) {
  double sum = 0;
  for (const TimedAction &action : actions)
    if (action.kind == TimedAction::Kind::collective)
      sum += action.seconds;
    else if (action.kind == TimedAction::Kind::loop)
      sum += double(action.count) * sumOfCollectives(action.body);
  return sum;
}

} // namespace

double secondsOf(const std::vector<TimedAction> &actions) {
  Clocks clocks;
  clocks.run(actions);
  return clocks.now(0);
}

std::vector<TimedAction> withoutCollectives(std::vector<TimedAction> actions) {
  for (TimedAction &action : actions)
    if (action.kind == TimedAction::Kind::collective)
      action.seconds = 0;
    else if (action.kind == TimedAction::Kind::loop)
      action.body = withoutCollectives(std::move(action.body));
  return actions;
}

std::vector<TimedAction> onOneQueue(std::vector<TimedAction> actions) {
  for (TimedAction &action : actions) {
    action.queue = 0;
    action.body = onOneQueue(std::move(action.body));
  }
  return actions;
}

EntryTime timeOf(const std::vector<TimedAction> &actions) {
  double all = secondsOf(actions);
  return {all, sumOfCollectives(actions), all - secondsOf(withoutCollectives(actions))};
}

} // namespace weir::planned
