//===- Walk.cpp - Actions one after the other -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Walk.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "support/program/Limits.h"
#include <map>

namespace weir {

Walk::Walk(const artifact::Program &program, uint32_t index, Workshop &workshop, bool poison)
    : program(program), entry(*program.entries()->Get(index)), index(index), workshop(workshop),
      poison(poison), steps(prepare(*entry.actions(), {})) {
  rounds.reserve(limits::loops);
  placed.reserve(artifact::maxOperands);
}

std::vector<Walk::Ready> Walk::prepare(const Actions &actions, std::optional<uint32_t> around) {
  std::vector<Ready> list;
  list.reserve(actions.size());
  for (const artifact::Action *action : actions)
    list.push_back(prepare(*action, around));
  return list;
}

Walk::Ready Walk::prepare(const artifact::Action &action, std::optional<uint32_t> around) {
  Ready step;
  step.action = nextAction++;
  step.queue = action.queue();
  if (action.operands())
    for (const artifact::Ref *ref : *action.operands())
      step.places.push_back(artifact::addressOf(program, entry, *ref));
  if (action.moves())
    for (const artifact::Move *move : *action.moves())
      step.moves.push_back({move->operand(), move->loop(), move->modulus(), move->bytes()});
  if (const artifact::Loop *loop = action.work_as_Loop()) {
    step.count = loop->count();
    step.body = prepare(*loop->body(), step.action);
  } else if ((step.work = workshop.make(action))) {
    step.work->bind(step.places);
  }
  if (poison)
    step.dead = deadBehind(step.action, nextAction - 1, around);
  return step;
}

static bool isPort(const flatbuffers::Vector<flatbuffers::Offset<artifact::Port>> &ports,
                   uint32_t buffer) {
  for (const artifact::Port *port : ports)
    if (port->ref()->memory() == artifact::Memory::buffer && port->ref()->index() == buffer)
      return true;
  return false;
}

// The action numbered `first` (a loop has its body's numbers, to `last`, too) may stand in the body
// of the loop `around`: what was alive before that loop stays alive to its end, whatever its last
// use.
std::vector<Walk::Range> Walk::deadBehind(uint32_t first, uint32_t last,
                                          std::optional<uint32_t> around) const {
  std::vector<Range> dead;
  uint32_t number = 0;
  for (const artifact::Buffer *buffer : *entry.buffers()) {
    bool ends = buffer->space() == artifact::Space::scratch && buffer->last() == last &&
                (first == last || buffer->first() <= first) &&
                (!around || buffer->first() > *around);
    if (ends && !isPort(*entry.outputs(), number))
      dead.push_back({buffer->offset(), buffer->size()});
    ++number;
  }
  return dead;
}

// All scratch but the inputs, which the host has written.
void Walk::poisonBefore() {
  const artifact::Device &device = artifact::deviceOf(program);
  std::map<Address, Address> inputs; // begin -> end; alive together, so they do not overlap
  uint32_t number = 0;
  for (const artifact::Buffer *buffer : *entry.buffers())
    if (isPort(*entry.inputs(), number++) && buffer->space() == artifact::Space::scratch)
      inputs.emplace(buffer->offset(), buffer->offset() + buffer->size());
  inputs.emplace(device.arena(), device.arena());
  Address from = device.persistent();
  for (auto [begin, end] : inputs) {
    if (from < begin)
      workshop.poison(0, from, begin - from);
    from = end;
  }
}

void Walk::run(Trace *newTrace, Observer *newObserver) {
  trace = newTrace;
  observer = newObserver;
  rounds.clear(); // an observer may have ended the last run
  round = 0;
  if (poison)
    poisonBefore();
  runAll(steps);
}

/// Where the operands lie in this round.
void Walk::place(const Ready &step) {
  placed.assign(step.places.begin(), step.places.end());
  for (const Move &move : step.moves) {
    int64_t turn = rounds[move.loop];
    placed[move.operand] += move.bytes * (move.modulus ? turn % move.modulus : turn);
  }
}

void Walk::carryOut(Ready &step) {
  if (step.count) {
    loop(step);
  } else if (step.work) {
    if (!step.moves.empty()) {
      place(step);
      step.work->bind(placed);
    }
    step.work->run();
  }
}

void Walk::runAll(std::vector<Ready> &list) {
  for (Ready &step : list) {
    if (observer)
      observer->before({index, step.action, round});
    if (trace) {
      int64_t begin = workshop.mark(step.queue);
      carryOut(step);
      workshop.record(*trace, {index, step.action, round}, begin, workshop.mark(step.queue));
    } else {
      carryOut(step);
    }
    if (observer)
      observer->after({index, step.action, round});
    for (const Range &range : step.dead)
      workshop.poison(step.queue, range.begin, range.size);
  }
}

void Walk::loop(Ready &step) {
  uint32_t outer = round;
  rounds.push_back(0);
  for (uint32_t turn = 0; turn < step.count; ++turn) {
    rounds.back() = turn;
    round = outer * step.count + turn;
    place(step);
    workshop.setRound(step.queue, placed.front(), static_cast<int32_t>(turn));
    runAll(step.body);
  }
  rounds.pop_back();
  round = outer;
}

} // namespace weir
