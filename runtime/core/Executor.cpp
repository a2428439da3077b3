//===- Executor.cpp - An entry as a list of prepared steps ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Executor.h"
#include "runtime/artifact/Actions.h"
#include "runtime/core/Steps.h"
#include <cassert>
#include <cstdlib>

namespace weir {

using artifact::Work;

/// Runs its body `count` times.
class LoopStep : public Step {
public:
  LoopStep(Executor &executor, Place ordinal, uint32_t count)
      : executor(executor), ordinal(std::move(ordinal)), count(count) {}

  void run(Rounds around) override {
    uint32_t outer = executor.round;
    executor.rounds.push_back(0);
    for (uint32_t round = 0; round < count; ++round) {
      executor.rounds.back() = round;
      executor.round = outer * count + round;
      *ordinal.at<int32_t>(executor.rounds.data()) = static_cast<int32_t>(round);
      executor.runAll(body);
    }
    executor.rounds.pop_back();
    executor.round = outer;
  }

  std::vector<Executor::Numbered> body;

private:
  Executor &executor;
  const Place ordinal;
  const uint32_t count;
};

Executor::Executor(Machine &machine, const artifact::Entry &entry, uint32_t index)
    : machine(machine), entry(entry), index(index), steps(prepare(*entry.actions(), {})) {
  rounds.reserve(16); // more loops than are ever around one another
}

std::vector<Executor::Numbered> Executor::prepare(const Actions &actions,
                                                  std::optional<uint32_t> around) {
  std::vector<Numbered> list;
  list.reserve(actions.size());
  for (const artifact::Action *action : actions) {
    Numbered numbered;
    numbered.action = nextAction++;
    numbered.step = prepare(*action);
    if (machine.poison)
      numbered.dead = deadAfter(numbered.action, nextAction - 1, around);
    list.push_back(std::move(numbered));
  }
  return list;
}

// The action numbered `first` (a loop has its body's numbers, to `last`, too) may stand in the
// body of the loop `around`: what was alive before that loop stays alive to its end, whatever
// its last use.
std::vector<Executor::Range> Executor::deadAfter(uint32_t first, uint32_t last,
                                                 std::optional<uint32_t> around) const {
  std::vector<Range> dead;
  uint32_t index = 0;
  for (const artifact::Buffer *buffer : *entry.buffers()) {
    bool ends = buffer->last() == last && (first == last || buffer->first() <= first) &&
                (!around || buffer->first() > *around);
    if (ends && !isPort(*entry.outputs(), index))
      dead.push_back({machine.arena + buffer->offset(), buffer->size()});
    ++index;
  }
  return dead;
}

std::unique_ptr<Step> Executor::prepareCall(const spec::Product &spec, std::vector<Place> places) {
  auto &made = machine.products[spec];
  if (!made)
    made = std::make_unique<cpu::Product>(spec, machine.pool->size());
  return std::make_unique<ProductStep>(machine, *made, std::move(places));
}

std::unique_ptr<Step> Executor::prepareCall(const spec::Convolution &spec,
                                            std::vector<Place> places) {
  auto &made = machine.convolutions[spec];
  if (!made)
    made = std::make_unique<cpu::Convolution>(spec, machine.pool->size());
  return std::make_unique<ConvolutionStep>(machine, *made, std::move(places));
}

std::unique_ptr<Step> Executor::prepare(const artifact::Action &action) {
  std::vector<Place> places = resolve(action);
  switch (action.work_type()) {
  case Work::Launch: {
    uint32_t kernel = action.work_as_Launch()->kernel();
    return std::make_unique<LaunchStep>(machine, machine.kernels[kernel],
                                        *machine.plan->kernels()->Get(kernel), std::move(places));
  }
  case Work::Call:
    return std::visit([&](const auto &spec) { return prepareCall(spec, std::move(places)); },
                      artifact::specOf(*action.work_as_Call()));
  case Work::Loop: {
    auto step = std::make_unique<LoopStep>(*this, places.front(), action.work_as_Loop()->count());
    step->body = prepare(*action.work_as_Loop()->body(), nextAction - 1);
    return step;
  }
  case Work::Copy:
    return std::make_unique<CopyStep>(machine, places[0], places[1], action.work_as_Copy()->size());
  case Work::Record:
  case Work::Wait:
    // One thread issues all queues' actions in their order and waits for each.
    return std::make_unique<NoStep>();
  default:
    assert(false && "the verifier admits known kinds only");
    std::abort();
  }
}

std::vector<Place> Executor::resolve(const artifact::Action &action) const {
  std::vector<Place> places;
  if (!action.operands())
    return places;
  for (const artifact::Ref *ref : *action.operands()) {
    uint64_t offset = ref->memory() == artifact::Memory::variable
                          ? machine.plan->variables()->Get(ref->index())->offset()
                          : entry.buffers()->Get(ref->index())->offset();
    places.push_back({machine.arena + offset + ref->offset(), {}});
  }
  if (action.moves())
    for (const artifact::Move *move : *action.moves())
      places[move->operand()].moves.push_back({move->loop(), move->modulus(), move->bytes()});
  return places;
}

bool Executor::isPort(const flatbuffers::Vector<flatbuffers::Offset<artifact::Port>> &ports,
                      uint32_t buffer) const {
  for (const artifact::Port *port : ports)
    if (port->ref()->memory() == artifact::Memory::buffer && port->ref()->index() == buffer)
      return true;
  return false;
}

void Executor::run() {
  if (machine.poison)
    poisonBefore();
  runAll(steps);
}

void Executor::runAll(std::vector<Numbered> &list) {
  for (Numbered &numbered : list) {
    if (machine.observer)
      machine.observer->before({index, numbered.action, round});
    if (machine.trace) {
      int64_t start = Trace::now();
      numbered.step->run(rounds.data());
      machine.trace->record({index, numbered.action, round, start, Trace::now()});
    } else {
      numbered.step->run(rounds.data());
    }
    if (machine.observer)
      machine.observer->after({index, numbered.action, round});
    for (const Range &range : numbered.dead)
      std::memset(range.begin, 0xff, range.size);
  }
}

// Everything but the inputs, which the host has written.
void Executor::poisonBefore() {
  const artifact::Program &plan = *machine.plan;
  std::map<uint64_t, uint64_t> inputs; // offset -> end; alive together, so they do not overlap
  uint32_t index = 0;
  for (const artifact::Buffer *buffer : *entry.buffers())
    if (isPort(*entry.inputs(), index++))
      inputs.emplace(buffer->offset(), buffer->offset() + buffer->size());
  uint64_t begin = artifact::deviceOf(plan).persistent();
  uint64_t arena = artifact::deviceOf(plan).arena();
  inputs.emplace(arena, arena);
  for (auto [offset, end] : inputs) {
    if (begin < offset)
      std::memset(machine.arena + begin, 0xff, offset - begin);
    begin = end;
  }
  for (int worker = 0; worker < machine.pool->size() && machine.scratchStride; ++worker)
    std::memset(machine.workerScratch(worker), 0xff, machine.scratchStride);
}

} // namespace weir
