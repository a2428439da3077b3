//===- Walk.cpp - Walks a planned entry in the order of issue -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Walk.h"
#include "support/Text.h"
#include "support/planned/Words.h"

namespace weir::planned {

Walk::Walk(const FlatPlan &plan, const Limits &limits)
    : plan(plan), limits(limits), clocks(plan.entry.queues, plan.events.size()),
      memory(plan, clocks, effort), lastWork(clocks.queues()) {}

Finding Walk::run() {
  for (uint32_t i = plan.inputs; i < plan.outputs; ++i)
    if (Finding fault = touch(i, {i, clocks.host(), Clocks::inputs}, true))
      return fault;
  if (!plan.steps.empty())
    if (Finding fault = body(0, plan.lastAction()))
      return fault;
  return end();
}

// Loops nest only so deep (FlatPlan), and with them this recursion.
Finding Walk::body(uint32_t first, uint32_t last) {
  for (uint64_t i = first; i <= last; i = uint64_t(plan.steps[i].last) + 1) {
    const Step &step = plan.steps[i];
    if (++effort.steps > limits.steps)
      return tooLong();
    Finding fault;
    switch (step.action->kind) {
    case Action::Kind::work:
      fault = work(i);
      break;
    case Action::Kind::loop:
      fault = loop(i);
      break;
    case Action::Kind::record:
      if (!clocks.forked(step.action->queue))
        fault = notForked(i);
      clocks.record(step.action->queue, step.event);
      break;
    case Action::Kind::wait:
      clocks.wait(step.action->queue, step.event);
      break;
    }
    if (fault)
      return fault;
  }
  return {};
}

Finding Walk::loop(uint32_t number) {
  const Step &step = plan.steps[number];
  uint64_t count = step.action->count;
  Round &round = rounds[step.depth];
  std::vector<uint64_t> begin;
  for (uint32_t queue = 0; queue <= clocks.host(); ++queue)
    begin.push_back(clocks.issued(queue));
  LoopPeriod pattern = loopPeriodOf(plan, number, rounds, effort);
  if (pattern.period != 1)
    obstacles[step.depth] =
        concat(actionWords(plan, number), ": ",
               pattern.period ? concat("they repeat after ", pattern.period) : pattern.obstacle);
  // A clock lags by fewer rounds than there are queues, and an event's by one more.
  uint64_t followed = pattern.hasSlots ? clocks.queues() + 1 : 1;
  State before;
  for (uint64_t i = 0; i < count; ++i) {
    if (++effort.steps > limits.steps)
      return tooLong();
    round = {i, 0};
    if (pattern.period && i % pattern.period == 0 && count - i >= pattern.period + followed) {
      State state = stateOf(plan, number, pattern, clocks, begin, memory);
      effort.steps += state.size();
      if (state == before) {
        uint64_t some = (count - i - followed) / pattern.period * pattern.period;
        round = {i += some, some};
        leftOut += some;
        pattern.period = 0;
      }
      before = std::move(state);
    }
    Finding fault;
    if (step.ownAccessesEnd > step.accesses)
      fault = work(number);
    if (!fault && step.last > number)
      fault = body(number + 1, step.last);
    if (fault) {
      fault->message += concat("; in round ", i, " of ", actionWords(plan, number));
      return fault;
    }
  }
  round = {};
  obstacles[step.depth].clear();
  return {};
}

Finding Walk::work(uint32_t number) {
  const Step &step = plan.steps[number];
  uint32_t queue = step.action->queue;
  if (!clocks.forked(queue))
    return notForked(number);
  lastWork[queue] = number;
  uint64_t sequence = clocks.issue(queue);
  for (bool writes : {false, true})
    for (uint32_t i = step.accesses; i < step.ownAccessesEnd; ++i)
      if (writes ? plan.accesses[i].writes : plan.accesses[i].reads)
        if (Finding fault = touch(i, {i, queue, sequence}, writes))
          return fault;
  return {};
}

Finding Walk::end() {
  uint64_t sequence = clocks.issue(0);
  for (uint32_t i = plan.outputs; i < plan.contents; ++i)
    if (Finding fault = touch(i, {i, 0, sequence}, false))
      return fault;
  for (uint32_t queue = 1; queue < clocks.queues(); ++queue)
    if (!clocks.sees(0, {0, queue, clocks.issued(queue)}))
      return Fault{FaultKind::queueNotJoined,
                   concat(actionWords(plan, lastWork[queue]), " is the last work of queue ", queue,
                          ", and queue 0 ends the entry without having waited for it"),
                   lastWork[queue]};
  return {};
}

Finding Walk::touch(uint32_t access, const Mark &mark, bool writes) {
  const Placed &placed = plan.accesses[access];
  ByteRanges ranges = byteRangesIn(placed, rounds);
  uint64_t address = addressIn(placed, rounds) + ranges.begin;
  if (ranges.pieces(limits.steps) >= limits.steps - std::min(limits.steps, effort.steps))
    return tooLong();
  std::vector<uint64_t> point(ranges.dims.size());
  while (true) {
    uint64_t begin = address, end;
    for (size_t i = 0; i < point.size(); ++i)
      begin += point[i] * uint64_t(ranges.dims[i].stride);
    end = begin + ranges.bytes;
    if (Finding fault = writes ? memory.write(mark, begin, end) : memory.read(mark, begin, end))
      return fault;
    if (effort.steps > limits.steps || effort.segments > limits.segments)
      return tooLong();
    size_t dim = 0;
    while (dim < point.size() && ++point[dim] == ranges.dims[dim].count)
      point[dim++] = 0;
    if (dim == point.size())
      return {};
  }
}

Finding Walk::notForked(uint32_t number) {
  const Step &step = plan.steps[number];
  for (uint32_t i = step.accesses; i < step.ownAccessesEnd; ++i) {
    const Placed &placed = plan.accesses[i];
    uint64_t begin = addressIn(placed, rounds) + placed.ranges.begin;
    if (placed.reads && memory.isHosts({placed.space, begin, begin + placed.ranges.span()}))
      return Fault{
          FaultKind::inputNotVisible,
          concat(accessWords(plan, placed),
                 ": it reads what the host has written, and nothing puts the two in order: queue ",
                 step.action->queue, " has waited for nothing that queue 0 has recorded"),
          number};
  }
  return Fault{FaultKind::queueNotForked,
               concat(actionWords(plan, number), ": queue ", step.action->queue,
                      " has waited for nothing that queue 0 has recorded, so this may happen "
                      "before the entry begins"),
               number};
}

Finding Walk::tooLong() const {
  auto first = std::find_if(obstacles.begin(), obstacles.end(),
                            [](const std::string &obstacle) { return !obstacle.empty(); });
  std::string why = first == obstacles.end() ? "" : "; each round has to be followed of " + *first;
  return Fault{FaultKind::tooLongToProve, concat("more than ", limits.steps, " steps, or ",
                                                 limits.segments, " segments of memory", why)};
}

} // namespace weir::planned
