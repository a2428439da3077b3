//===- Simulate.cpp - Predicts the time of an entry -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Simulate.h"
#include <algorithm>
#include <array>
#include <map>

namespace weir::planned {
namespace {

constexpr uint64_t mostRounds = 64;

bool isTransfer(const TimedAction &action) {
  return action.kind == TimedAction::Kind::send || action.kind == TimedAction::Kind::receive;
}

class QueueClocks {
public:
  void run(const std::vector<TimedAction> &actions) {
    for (const TimedAction &action : actions)
      run(action);
  }

  double now(uint32_t queue) { return queues[queue]; }
  void waitUntil(uint32_t queue, double time) { queues[queue] = std::max(queues[queue], time); }

  void run(const TimedAction &action) {
    if (action.kind == Kind::loop)
      loop(action);
    else if (action.kind == Kind::record)
      events[action.event] = queues[action.queue];
    else if (action.kind == Kind::wait)
      queues[action.queue] = std::max(queues[action.queue], events[action.event]);
    else if (!isTransfer(action))
      queues[action.queue] += action.seconds;
  }

private:
  using Kind = TimedAction::Kind;

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

/// Ranks that go on as far as they can, in turn.
class Following {
public:
  explicit Following(const std::vector<std::vector<TimedAction>> &ranks)
      : ranks(ranks), next(ranks.size()), clocks(ranks.size()) {}

  std::optional<double> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t rank = 0; rank < ranks.size(); ++rank)
        while (next[rank] < ranks[rank].size() && step(rank, ranks[rank][next[rank]])) {
          ++next[rank];
          moved = true;
        }
    }
    double end = 0;
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      if (next[rank] < ranks[rank].size())
        return std::nullopt;
      end = std::max(end, clocks[rank].now(0));
    }
    return end;
  }

private:
  bool step(uint32_t rank, const TimedAction &action) {
    if (action.kind == TimedAction::Kind::send) {
      double &free = links[{rank, action.peer}];
      free = std::max(free, clocks[rank].now(action.queue)) + action.seconds;
      come[{rank, action.peer, action.number, action.round}] = free;
    } else if (action.kind == TimedAction::Kind::receive) {
      auto found = come.find({action.peer, rank, action.number, action.round});
      if (found == come.end())
        return false;
      clocks[rank].waitUntil(action.queue, found->second);
    } else {
      clocks[rank].run(action);
    }
    return true;
  }

  const std::vector<std::vector<TimedAction>> &ranks;
  std::vector<size_t> next;
  std::vector<QueueClocks> clocks;
  std::map<std::pair<uint32_t, uint32_t>, double> links; ///< when each is free, from and to
  std::map<std::array<uint32_t, 4>, double> come; ///< from, to, number, round: when it is there
};

} // namespace

double secondsOf(const std::vector<TimedAction> &actions) {
  QueueClocks clocks;
  clocks.run(actions);
  return clocks.now(0);
}

std::optional<double> secondsOf(const std::vector<std::vector<TimedAction>> &ranks) {
  return Following(ranks).run();
}

double sumOf(const std::vector<TimedAction> &actions, bool (*counts)(const TimedAction &)) {
  double sum = 0;
  for (const TimedAction &action : actions)
    if (action.kind == TimedAction::Kind::loop)
      sum += double(action.count) * sumOf(action.body, counts);
    else if (counts(action))
      sum += action.seconds;
  return sum;
}

static bool isCollective(const TimedAction &action) {
  return action.kind == TimedAction::Kind::collective;
}

std::vector<TimedAction> withoutCollectives(std::vector<TimedAction> actions) {
  for (TimedAction &action : actions)
    if (isCollective(action) || isTransfer(action) || action.kind == TimedAction::Kind::sending)
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
  return {all, sumOf(actions, isCollective), all - secondsOf(withoutCollectives(actions))};
}

} // namespace weir::planned
