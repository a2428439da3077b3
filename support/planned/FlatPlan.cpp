//===- FlatPlan.cpp - A planned entry as a flat list of actions -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/FlatPlan.h"
#include "support/Text.h"
#include "support/planned/Words.h"
#include <algorithm>

namespace weir::planned {
namespace {

class Builder {
public:
  explicit Builder(FlatPlan &plan) : plan(plan), entry(plan.entry) {}

  Finding build() {
    if (entry.queues > limits::queues)
      return Fault{FaultKind::tooManyQueues,
                   concat(entry.queues, " queues; there may be ", limits::queues)};
    for (size_t i = 0; i < entry.buffers.size(); ++i)
      if (unsigned(entry.buffers[i].space) >= spaceCount)
        return Fault{FaultKind::unknownKind, concat(bufferWords(entry, i), ": there is no space ",
                                                    unsigned(entry.buffers[i].space))};
    if (Finding fault = addBody(entry.actions))
      return fault;
    plan.inputs = plan.accesses.size();
    if (Finding fault = addHosts(entry.inputs, beforeEntry))
      return fault;
    plan.outputs = plan.accesses.size();
    if (Finding fault = addHosts(entry.outputs, afterEntry))
      return fault;
    plan.contents = plan.accesses.size();
    addContents();
    return numberEvents();
  }

private:
  // The depth is limited here, so this recursion is.
  Finding addBody(const std::vector<Action> &actions) {
    for (const Action &action : actions)
      if (Finding fault = addAction(action))
        return fault;
    return {};
  }

  Finding addAction(const Action &action) {
    uint32_t number = plan.steps.size();
    auto fail = [&](FaultKind kind, const std::string &what) {
      return Fault{kind, actionWords(plan, number) + ": " + what, number};
    };
    plan.steps.push_back({&action, number, uint32_t(loops.size())});
    bool isLoop = action.kind == Action::Kind::loop;
    bool isSync = action.kind == Action::Kind::record || action.kind == Action::Kind::wait;
    if (action.kind > Action::Kind::wait)
      return fail(FaultKind::unknownKind, concat("there is no kind ", unsigned(action.kind)));
    if (action.queue >= entry.queues)
      return fail(FaultKind::unknownQueue,
                  concat("queue ", action.queue, "; there are ", entry.queues));
    if (isSync && action.event >= entry.events)
      return fail(FaultKind::unknownEvent,
                  concat("event ", action.event, "; there are ", entry.events));
    if (isSync && !action.accesses.empty())
      return fail(FaultKind::misplaced, "only work and loops have accesses");
    if (!isLoop && !action.body.empty())
      return fail(FaultKind::misplaced, "only a loop has a body");
    if (isLoop && action.count == 0)
      return fail(FaultKind::emptyLoop, "a loop has a round at least");
    if (isLoop && loops.size() == limits::loops)
      return fail(FaultKind::nestingTooDeep, concat("loops nest ", limits::loops, " deep at most"));
    plan.steps[number].records = plan.records.size();
    if (action.kind == Action::Kind::record)
      plan.records.push_back(action.event);
    plan.steps[number].accesses = plan.accesses.size();
    if (isLoop)
      loops.push_back(number);
    for (const Access &access : action.accesses)
      if (Finding fault = addAccess(access, number, action.queue))
        return fault;
    plan.steps[number].ownAccessesEnd = plan.accesses.size();
    if (Finding fault = addBody(action.body))
      return fault;
    if (isLoop)
      loops.pop_back();
    plan.steps[number].last = plan.steps.size() - 1;
    plan.steps[number].accessesEnd = plan.accesses.size();
    plan.steps[number].recordsEnd = plan.records.size();
    return {};
  }

  Finding addHosts(const std::vector<Access> &accesses, uint32_t when) {
    for (const Access &access : accesses) {
      if (Finding fault = addAccess(access, when, 0))
        return fault;
      plan.accesses.back().reads = when == afterEntry;
      plan.accesses.back().writes = when == beforeEntry;
    }
    return {};
  }

  Finding addAccess(const Access &access, uint32_t action, uint32_t queue) {
    auto fail = [&](FaultKind kind, const std::string &what) {
      bool isHost = action >= plan.steps.size();
      return Fault{kind, concat(isHost ? "the host" : actionWords(plan, action), ", access",
                                quoted(access.name), ": ", what)};
    };
    if (access.buffer >= entry.buffers.size())
      return fail(FaultKind::unknownBuffer,
                  concat("buffer ", access.buffer, "; there are ", entry.buffers.size()));
    if (access.mode > Mode::update)
      return fail(FaultKind::unknownKind, concat("there is no mode ", unsigned(access.mode)));
    bool isEmpty = access.bytes == 0;
    for (const Dim &dim : access.dims)
      isEmpty |= dim.count == 0;
    if (isEmpty)
      return fail(FaultKind::emptyAccess, "it has no bytes");

    Placed placed;
    const Buffer &buffer = entry.buffers[access.buffer];
    placed.access = &access;
    placed.action = action;
    placed.queue = queue;
    placed.buffer = access.buffer;
    placed.reads = access.mode != Mode::write;
    placed.writes = access.mode != Mode::read;
    placed.space = buffer.space;
    placed.address = buffer.offset + uint64_t(access.offset);
    placed.ranges = byteRangesOf(access.bytes, access.dims);
    std::array<bool, limits::loops> seen = {};
    for (const Stride &stride : access.strides) {
      if (stride.loop >= loops.size())
        return fail(FaultKind::unknownLoop, concat("a stride of the loop at depth ", stride.loop,
                                                   "; around it are ", loops.size()));
      if (seen[stride.loop])
        return fail(FaultKind::strideTwice,
                    concat("two strides of the loop at depth ", stride.loop));
      seen[stride.loop] = true;
      uint64_t count = plan.steps[loops[stride.loop]].action->count;
      bool wraps = stride.modulus && stride.modulus < count;
      uint64_t rounds = wraps ? stride.modulus : count;
      if (stride.bytes && rounds > 1)
        placed.motions[stride.loop] = {stride.bytes, wraps ? rounds : 0, rounds - 1};
    }
    plan.accesses.push_back(std::move(placed));
    return {};
  }

  void addContents() {
    for (uint32_t i = 0; i < entry.buffers.size(); ++i) {
      const Buffer &buffer = entry.buffers[i];
      if ((!buffer.holds && buffer.space != Space::constant) || !buffer.size)
        continue;
      Placed placed;
      placed.buffer = i;
      placed.space = buffer.space;
      placed.address = buffer.offset;
      placed.ranges = byteRangesOf(buffer.size, {});
      plan.accesses.push_back(std::move(placed));
    }
  }

  // A hostile entry may count billions of events: those in use are numbered.
  Finding numberEvents() {
    std::vector<uint32_t> &events = plan.events;
    for (const Step &step : plan.steps)
      if (step.action->kind >= Action::Kind::record)
        events.push_back(step.action->event);
    std::sort(events.begin(), events.end());
    events.erase(std::unique(events.begin(), events.end()), events.end());
    auto indexOf = [&](uint32_t event) {
      return uint32_t(std::lower_bound(events.begin(), events.end(), event) - events.begin());
    };
    for (uint32_t &event : plan.records)
      event = indexOf(event);
    std::vector<std::vector<uint32_t>> recordedAt(events.size());
    for (uint32_t i = 0; i < plan.steps.size(); ++i) {
      Step &step = plan.steps[i];
      if (step.action->kind >= Action::Kind::record)
        step.event = indexOf(step.action->event);
      if (step.action->kind == Action::Kind::record)
        recordedAt[step.event].push_back(i);
    }
    return checkWaits(recordedAt);
  }

  // A wait may stand before the record, where a loop of two rounds is around both.
  Finding checkWaits(const std::vector<std::vector<uint32_t>> &recordedAt) {
    uint32_t reach = 0; // the end of the outermost such loop around the step
    for (uint32_t i = 0; i < plan.steps.size(); ++i) {
      const Step &step = plan.steps[i];
      reach = std::max(reach, i);
      if (step.action->kind == Action::Kind::loop && step.action->count > 1)
        reach = std::max(reach, step.last);
      if (step.action->kind != Action::Kind::wait)
        continue;
      const std::vector<uint32_t> &records = recordedAt[step.event];
      if (records.empty() || records.front() > reach)
        return Fault{FaultKind::neverRecorded,
                     concat(actionWords(plan, i), ": queue ", step.action->queue,
                            " waits for event ", step.action->event, ", which is recorded ",
                            records.empty() ? "nowhere" : "only later, at ",
                            records.empty() ? "" : actionWords(plan, records.front()))};
    }
    return {};
  }

  FlatPlan &plan;
  const Entry &entry;
  std::vector<uint32_t> loops; // around what is being added
};

} // namespace

Finding FlatPlan::build() { return Builder(*this).build(); }

} // namespace weir::planned
