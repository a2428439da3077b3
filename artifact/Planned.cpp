//===- Planned.cpp - An artifact's entry as what is proven of it ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Planned.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "support/Text.h"

namespace weir::artifact {
namespace {

// The schema's spaces and modes are those of plans.
static_assert(int(Space::persistent) == int(planned::Space::persistent) &&
              int(Space::constant) == int(planned::Space::constant) &&
              int(Space::scratch) == int(planned::Space::scratch) &&
              int(Space::pinned) == int(planned::Space::pinned) &&
              int(Space::host) == int(planned::Space::host));
static_assert(int(Mode::read) == int(spec::Mode::read) &&
              int(Mode::write) == int(spec::Mode::write) &&
              int(Mode::update) == int(spec::Mode::update));

class Converter {
public:
  Converter(const Program &program, const Entry &entry) : program(program), entry(entry) {}

  planned::Entry convert();

private:
  planned::Action convert(const Action &action);
  planned::Access access(const Ref &ref, const spec::Footprint &footprint) const;
  void addBuffers();
  void addPorts(const flatbuffers::Vector<flatbuffers::Offset<Port>> &ports, planned::Mode mode,
                std::vector<planned::Access> &into) const;

  const Program &program;
  const Entry &entry;
  planned::Entry result;
};

void Converter::addBuffers() {
  uint64_t persistent = deviceOf(program).persistent(), arena = deviceOf(program).arena();
  result.sizes[size_t(planned::Space::persistent)] = persistent;
  result.sizes[size_t(planned::Space::scratch)] = arena - persistent;
  result.sizes[size_t(planned::Space::pinned)] = deviceOf(program).pinned();
  result.sizes[size_t(planned::Space::host)] = deviceOf(program).host();
  uint32_t last = static_cast<uint32_t>(actionsOf(entry).size());
  last = last ? last - 1 : 0;
  for (const Variable *variable : *program.variables())
    result.buffers.push_back({.space = static_cast<planned::Space>(variable->space()),
                              .offset = variable->offset(),
                              .size = variable->size(),
                              .name = variable->name()->str(),
                              .holds = true,
                              .first = 0,
                              .last = last});
  uint32_t number = 0;
  for (const Buffer *buffer : *entry.buffers()) {
    std::string name = "buffer " + std::to_string(number++);
    if (buffer->label() && buffer->label()->size())
      name += " (" + buffer->label()->str() + ")";
    // Scratch is behind the persistent segment; what lies before it is outside all memory.
    uint64_t begin = buffer->space() == Space::scratch ? persistent : 0;
    result.buffers.push_back({.space = static_cast<planned::Space>(buffer->space()),
                              .offset = buffer->offset() - begin,
                              .size = buffer->size(),
                              .name = std::move(name),
                              .holds = false,
                              .first = buffer->first(),
                              .last = buffer->last()});
  }
}

planned::Access Converter::access(const Ref &ref, const spec::Footprint &footprint) const {
  planned::Access access;
  access.buffer =
      ref.memory() == Memory::variable ? ref.index() : program.variables()->size() + ref.index();
  access.offset = ref.offset();
  access.bytes = footprint.bytes;
  access.dims = footprint.dims;
  access.mode = footprint.mode;
  access.name = footprint.name;
  return access;
}

void Converter::addPorts(const flatbuffers::Vector<flatbuffers::Offset<Port>> &ports,
                         planned::Mode mode, std::vector<planned::Access> &into) const {
  for (const Port *port : ports) {
    uint64_t size = 0;
    ownSize(program, port->dtype(), *port->shape(), port->layout(), size);
    into.push_back(access(*port->ref(), {port->name()->str(), mode, size, {}, false}));
  }
}

planned::Action Converter::convert(const Action &action) {
  planned::Action converted;
  converted.queue = action.queue();
  converted.name = describe(program, action);
  std::vector<spec::Footprint> footprints = footprintsOf(program, action);
  for (size_t i = 0; i < footprints.size(); ++i)
    converted.accesses.push_back(access(*action.operands()->Get(i), footprints[i]));
  if (action.moves())
    for (const Move *move : *action.moves())
      converted.accesses[move->operand()].strides.push_back(
          {move->loop(), move->bytes(), move->modulus()});
  if (const Loop *loop = action.work_as_Loop()) {
    converted.kind = planned::Action::Kind::loop;
    converted.count = loop->count();
    for (const Action *inner : *loop->body())
      converted.body.push_back(convert(*inner));
  } else if (const Record *record = action.work_as_Record()) {
    converted.kind = planned::Action::Kind::record;
    converted.event = record->event();
  } else if (const Wait *wait = action.work_as_Wait()) {
    converted.kind = planned::Action::Kind::wait;
    converted.event = wait->event();
  }
  return converted;
}

planned::Entry Converter::convert() {
  addBuffers();
  result.queues = deviceOf(program).queues();
  result.events = entry.events();
  addPorts(*entry.inputs(), planned::Mode::write, result.inputs);
  addPorts(*entry.outputs(), planned::Mode::read, result.outputs);
  for (const Action *action : *entry.actions())
    result.actions.push_back(convert(*action));
  return std::move(result);
}

/// The model's first line that an action computes; "" where none is known.
std::string sourceOf(const Program &program, const Action &action) {
  if (!action.locations() || !action.locations()->size())
    return "";
  const Location &at = *action.locations()->Get(0);
  return at.line() ? concat(program.files()->Get(at.file())->string_view(), ":", at.line(), ":",
                            at.column())
                   : "";
}

std::vector<planned::SyncPoint>
syncPoints(const Program &program, const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions,
           uint32_t &number) {
  std::vector<planned::SyncPoint> all;
  for (const Action *action : actions) {
    planned::SyncPoint point{.action = number++, .queue = action->queue()};
    using Order = planned::SyncPoint::Order;
    if (const Loop *loop = action->work_as_Loop()) {
      point.rounds = loop->count();
      point.body = syncPoints(program, *loop->body(), number);
      if (!point.body.empty())
        all.push_back(std::move(point));
    } else if (const Record *record = action->work_as_Record()) {
      point.order = Order::record;
      point.event = record->event();
      all.push_back(std::move(point));
    } else if (const Wait *wait = action->work_as_Wait()) {
      point.order = Order::wait;
      point.event = wait->event();
      all.push_back(std::move(point));
    } else if (const Collective *collective = action->work_as_Collective()) {
      point.kind = EnumNameCollectiveKind(collective->kind());
      point.axis = collective->axis()->str();
      point.number = collective->number();
      point.source = sourceOf(program, *action);
      point.element = elementOf(collective->dtype());
      point.bytes.assign(collective->bytes()->begin(), collective->bytes()->end());
      point.own = collective->own();
      all.push_back(std::move(point));
    } else if (const Transfer *transfer = action->work_as_Transfer()) {
      point.kind = EnumNameTransferKind(transfer->kind());
      point.axis = transfer->axis()->str();
      point.number = transfer->number();
      point.source = sourceOf(program, *action);
      point.element = elementOf(transfer->dtype());
      point.bytes = {transfer->size()};
      point.own = transfer->size();
      point.peer = transfer->peer();
      point.round = transfer->round();
      all.push_back(std::move(point));
    }
  }
  return all;
}

template <class Tensor>
planned::RankTensor rankTensor(const Program &program, const Mesh &mesh, std::string name,
                               const Tensor &tensor) {
  return {std::move(name),
          elementOf(tensor.dtype()),
          {tensor.shape()->begin(), tensor.shape()->end()},
          tensor.layout() ? tensor.layout()->str() : "",
          layoutOf(mesh, tensor).shape(mesh, int64_t(program.rank()))};
}

planned::RankProgram rankProgram(const Program &program, const Mesh &mesh) {
  planned::RankProgram converted;
  for (const Variable *variable : *program.variables())
    converted.variables.push_back(rankTensor(program, mesh, variable->name()->str(), *variable));
  for (const Entry *entry : *program.entries()) {
    planned::RankEntry made{entry->name()->str(), {}, {}, {}};
    for (const Port *port : *entry->inputs())
      made.inputs.push_back(rankTensor(program, mesh, port->name()->str(), *port));
    for (const Port *port : *entry->outputs())
      made.results.push_back(rankTensor(
          program, mesh,
          concat(port->name()->string_view(), ".", EnumNamePortKind(port->kind()), port->term()),
          *port));
    uint32_t number = 0;
    made.syncPoints = syncPoints(program, *entry->actions(), number);
    converted.entries.push_back(std::move(made));
  }
  return converted;
}

} // namespace

planned::MeshPrograms plannedRanks(const Program &program) {
  planned::MeshPrograms ranks{meshOf(program), {}, {}};
  ranks.programs.push_back(rankProgram(program, ranks.mesh));
  if (program.others())
    for (const Program *other : *program.others())
      ranks.programs.push_back(rankProgram(*other, ranks.mesh));
  ranks.programOf.assign(size_t(ranks.mesh.ranks()), 0);
  if (program.program_of())
    ranks.programOf.assign(program.program_of()->begin(), program.program_of()->end());
  return ranks;
}

planned::Entry plannedEntry(const Program &program, const Entry &entry) {
  return Converter(program, entry).convert();
}

} // namespace weir::artifact
