//===- ActionOperands.cpp - The tensors that an action reads and writes ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nan_trace/ActionOperands.h"
#include "artifact/Actions.h"
#include "artifact/Lines.h"
#include "artifact/Reader.h"
#include "support/Text.h"
#include <algorithm>

namespace weir {

using artifact::Kernel;

static const Kernel *kernelOf(const artifact::Program &program, const artifact::Action &action) {
  const artifact::Launch *launch = action.work_as_Launch();
  return launch ? program.kernels()->Get(launch->kernel()) : nullptr;
}

/// Which says what all of its launches are.
static const Kernel &firstLaunch(const artifact::Program &program, const artifact::Action &action) {
  uint32_t index = action.work_as_Launch()->kernel();
  return *program.kernels()->Get(index - program.kernels()->Get(index)->part());
}

Actions::Actions(const artifact::Program &program, const artifact::Entry &entry)
    : program(program), entry(entry) {
  collect(*entry.actions(), {});
}

void Actions::collect(const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions,
                      const std::vector<uint32_t> &loops) {
  for (const artifact::Action *action : actions) {
    all.push_back({action, loops});
    if (const artifact::Loop *loop = action->work_as_Loop()) {
      std::vector<uint32_t> within = loops;
      within.push_back(loop->count());
      collect(*loop->body(), within);
    }
  }
}

uint32_t Actions::rounds(uint32_t number) const {
  uint32_t rounds = 1;
  for (uint32_t count : all[number].loops)
    rounds *= count;
  return rounds;
}

bool Actions::begins(uint32_t number) const {
  const Kernel *kernel = kernelOf(program, *all[number].action);
  return !kernel || kernel->part() == 0;
}

bool Actions::ends(uint32_t number) const {
  if (!kernelOf(program, *all[number].action))
    return true;
  uint32_t next = all[number].action->work_as_Launch()->kernel() + 1;
  return next == program.kernels()->size() || program.kernels()->Get(next)->part() == 0;
}

std::vector<ActionOperand> Actions::operands(const ActionPlace &place) const {
  const auto &[action, loops] = all[place.action];
  if (artifact::bodyOf(*action))
    return {};
  std::vector<uint32_t> rounds(loops.size());
  for (size_t depth = loops.size(), round = place.round; depth-- > 0; round /= loops[depth])
    rounds[depth] = round % loops[depth];
  const Kernel *kernel = kernelOf(program, *action);
  const Kernel *first = kernel ? &firstLaunch(program, *action) : nullptr;
  std::vector<ActionOperand> list;
  std::vector<spec::Footprint> footprints = artifact::footprintsOf(program, *action);
  for (uint32_t i = 0; i < footprints.size(); ++i) {
    const artifact::Ref &ref = *action->operands()->Get(i);
    ActionOperand one{
        ref, artifact::addressOf(program, entry, ref), std::move(footprints[i]), {}, {}};
    if (action->moves())
      for (const artifact::Move *move : *action->moves())
        if (move->operand() == i) {
          int64_t turn = rounds[move->loop()];
          one.at += move->bytes() * (move->modulus() ? turn % move->modulus() : turn);
        }
    if (kernel && first->tensors() && i < first->tensors()->size()) {
      const artifact::TensorType &type = *first->tensors()->Get(i);
      one.element = artifact::elementOf(type.dtype());
      one.shape.assign(type.shape()->begin(), type.shape()->end());
      one.counts = first->counts() && std::find(first->counts()->begin(), first->counts()->end(),
                                                i) != first->counts()->end();
    } else if (action->work_as_Call() && !one.footprint.workspace) {
      one.element = one.footprint.element;
    }
    list.push_back(std::move(one));
  }
  return list;
}

std::string Actions::describe(const ActionPlace &place) const {
  uint32_t often = rounds(place.action);
  return concat("action ", place.action, " of ", size(), ", ",
                artifact::describe(program, *all[place.action].action),
                often > 1 ? concat(", in round ", place.round + 1, " of ", often) : "");
}

static std::string placeOf(const artifact::Program &program, const artifact::Location &at) {
  return concat(program.files()->Get(at.file())->string_view(), ":", at.line(), ":", at.column());
}

std::vector<std::string> Actions::ops(uint32_t number) const {
  const artifact::Action &action = *all[number].action;
  auto at = [&](uint32_t place) {
    bool known = action.locations() && place < action.locations()->size() &&
                 action.locations()->Get(place)->line() != 0;
    return known ? " at " + placeOf(program, *action.locations()->Get(place)) : "";
  };
  if (const artifact::Call *call = action.work_as_Call()) {
    std::string_view op = spec::opOf(artifact::specOf(*call));
    op.remove_prefix(op.find('.') + 1);
    return {std::string(op) + at(0)};
  }
  std::vector<std::string> list;
  if (!kernelOf(program, action))
    return list;
  const Kernel &kernel = firstLaunch(program, action);
  for (uint32_t i = 0; kernel.ops() && i < kernel.ops()->size(); ++i) {
    uint32_t place = action.lines() && i < action.lines()->size() ? action.lines()->Get(i)
                                                                  : uint32_t(artifact::noLine);
    std::string text = kernel.ops()->Get(i)->str() + at(place);
    if (std::find(list.begin(), list.end(), text) == list.end())
      list.push_back(std::move(text));
  }
  return list;
}

std::string Actions::lines(uint32_t number) const {
  return linesText(placesOf(program, linesOf(all[number].action->locations())));
}

bool Actions::knowTensors() const {
  return std::all_of(all.begin(), all.end(), [&](const One &one) {
    return !kernelOf(program, *one.action) || firstLaunch(program, *one.action).tensors();
  });
}

std::string Actions::nameOf(const artifact::Ref &ref) const {
  if (ref.memory() == artifact::Memory::variable) {
    const artifact::Variable &variable = *program.variables()->Get(ref.index());
    constexpr const char *kinds[] = {"the parameter", "the state", "the optimizer's state",
                                     "the run's variable"};
    return concat(kinds[static_cast<size_t>(variable.role())], " '", variable.name()->string_view(),
                  "'");
  }
  for (const artifact::Port *port : *entry.inputs())
    if (port->ref()->memory() == ref.memory() && port->ref()->index() == ref.index())
      return concat("the input '", port->name()->string_view(), "'");
  const artifact::Buffer &buffer = *entry.buffers()->Get(ref.index());
  std::string label = buffer.label() ? buffer.label()->str() : "";
  std::string at = buffer.location() && buffer.location()->line() != 0
                       ? " of " + placeOf(program, *buffer.location())
                       : "";
  return label.empty() && at.empty() ? concat("buffer ", ref.index()) : "\"" + label + "\"" + at;
}

Statistics measure(const Program &program, Address at, Element element, uint64_t count) {
  constexpr uint64_t most = 1 << 18;
  Statistics all;
  std::vector<std::byte> bytes(std::min(count, most) * sizeOf(element));
  std::vector<double> numbers(std::min(count, most));
  for (uint64_t from = 0; from < count; from += most) {
    uint64_t some = std::min(count - from, most);
    std::span<std::byte> read = std::span(bytes).first(some * sizeOf(element));
    program.readArena(at + from * sizeOf(element), read);
    std::span<double> loaded = std::span(numbers).first(some);
    loadNumbers(element, read.data(), loaded);
    all.add(loaded);
  }
  return all;
}

Statistics measure(const Program &program, const ActionOperand &tensor) {
  const spec::Footprint &footprint = tensor.footprint;
  Element element = *tensor.element;
  if (footprint.dims.empty())
    return measure(program, tensor.at, element, footprint.bytes / sizeOf(element));
  std::vector<std::byte> bytes(footprint.extent());
  program.readArena(tensor.at, bytes);
  Statistics all;
  std::vector<double> numbers(footprint.bytes / sizeOf(element));
  // The innermost dimension stands first.
  std::vector<uint64_t> index(footprint.dims.size());
  size_t d = 0;
  while (d < index.size()) {
    uint64_t from = 0;
    for (size_t i = 0; i < index.size(); ++i)
      from += index[i] * static_cast<uint64_t>(footprint.dims[i].stride);
    loadNumbers(element, bytes.data() + from, numbers);
    all.add(numbers);
    for (d = 0; d < index.size() && ++index[d] == footprint.dims[d].count; ++d)
      index[d] = 0;
  }
  return all;
}

} // namespace weir
