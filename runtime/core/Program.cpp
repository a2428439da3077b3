//===- Program.cpp - A loaded artifact, ready to run ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Program.h"
#include "artifact/Actions.h"
#include "artifact/Alternatives.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "runtime/core/Group.h"
#include "runtime/core/WholeTensors.h"
#include <cassert>

namespace weir {

struct Program::Impl {
  std::vector<std::byte> bytes;
  const artifact::Program *plan = nullptr;
  std::unique_ptr<Device> device;
  std::unique_ptr<Trace> trace;
  std::vector<TensorView> variables;

  Address addressOf(const artifact::Entry &entry, const artifact::Port &port) const {
    if (plan->mesh())
      return wholeAddress(wholeNumber(*plan, &port));
    return artifact::addressOf(*plan, entry, *port.ref());
  }
  Address addressOf(const artifact::Variable &variable) const {
    if (plan->mesh())
      return wholeAddress(wholeNumber(*plan, &variable));
    return artifact::addressOf(*plan, variable);
  }
};

void TensorView::read(size_t from, std::span<std::byte> to) const {
  assert(from + to.size() <= size);
  device->wait(device->read(address + from, to));
}

void TensorView::write(size_t from, std::span<const std::byte> bytes) const {
  assert(from + bytes.size() <= size);
  device->wait(device->write(address + from, bytes));
}

void TensorView::forEachOwned(const Device::Range &visit) const {
  device->forEachOwned(address, size, visit);
}

void TensorView::readOwned(const Device::Bytes &visit) const {
  device->readOwned(address, size, visit);
}

void TensorView::forEachKept(const Device::Range &visit) const {
  device->forEachKept(address, size, visit);
}

void TensorView::readShares(const Device::Shares &visit) const {
  device->readShares(address, size, visit);
}

/// Of an artifact's programs the one that the run's processes are enough for, without being more;
/// the first where it is not known how many there are, or one has all ranks.
static const artifact::Program &fitting(const artifact::Program &program,
                                        const DeviceOptions &options) {
  const int64_t processes = options.group ? options.group->size() : options.processes;
  const artifact::Program *found = artifact::programFor(program, processes);
  assert((found || !options.group) && "who made the group has looked");
  return found ? *found : program;
}

Program::Program(std::vector<std::byte> bytes, const MakeDevice &make,
                 const ProgramOptions &options)
    : impl(std::make_unique<Impl>()) {
  impl->bytes = std::move(bytes);
  impl->plan = &fitting(artifact::verify(impl->bytes), options.device);
  if (!options.entriesAlone)
    artifact::verifyEvaluations(*impl->plan);
  impl->device = make(*impl->plan, options.device);
  const Mesh mesh = artifact::meshOf(*impl->plan);
  for (const artifact::Variable *variable : *impl->plan->variables()) {
    const auto &shape = *variable->shape();
    if (variable->role() == artifact::Role::run &&
        pieceOfBegin(variable->name()->string_view(), mesh))
      continue; // a rank's own
    uint64_t size = 0;
    artifact::tensorSize(variable->dtype(), shape, size);
    impl->variables.push_back({.name = variable->name()->str(),
                               .element = artifact::elementOf(variable->dtype()),
                               .shape = {shape.begin(), shape.end()},
                               .role = variable->role(),
                               .size = size,
                               .device = impl->device.get(),
                               .address = impl->addressOf(*variable)});
  }
}

Program::~Program() = default;

const artifact::Program &Program::plan() const { return *impl->plan; }
const std::vector<TensorView> &Program::variables() const { return impl->variables; }
DeviceFacts Program::facts() const { return impl->device->facts(); }

const artifact::Entry *Program::entry(std::string_view name) const {
  for (const artifact::Entry *entry : *impl->plan->entries())
    if (entry->name()->string_view() == name)
      return entry;
  return nullptr;
}

void Program::write(const artifact::Entry &entry, const artifact::Port &port,
                    std::span<const std::byte> bytes) {
  impl->device->wait(impl->device->write(impl->addressOf(entry, port), bytes));
}

void Program::read(const artifact::Entry &entry, const artifact::Port &port,
                   std::span<std::byte> to) const {
  impl->device->wait(impl->device->read(impl->addressOf(entry, port), to));
}

void Program::forEachKept(const artifact::Entry &entry, const artifact::Port &port,
                          const Device::Range &visit) const {
  uint64_t size = 0;
  artifact::tensorSize(port.dtype(), *port.shape(), size);
  impl->device->forEachKept(impl->addressOf(entry, port), size, visit);
}

Ticket Program::start(const artifact::Entry &entry) {
  const auto &entries = *impl->plan->entries();
  uint32_t number = 0;
  while (number < entries.size() && entries[number] != &entry)
    ++number;
  assert(number < entries.size() && "the entry is of another program");
  return impl->device->run(number);
}

void Program::finish(Ticket run) { impl->device->wait(run); }

void Program::trace(size_t capacity, bool sums) {
  impl->device->trace(nullptr);
  std::vector<Trace::Sums> empty;
  if (sums)
    for (const artifact::Entry *entry : *impl->plan->entries())
      empty.emplace_back(artifact::actionsOf(*entry).size());
  impl->trace = capacity || sums ? std::make_unique<Trace>(capacity, std::move(empty)) : nullptr;
  impl->device->trace(impl->trace.get());
}

const Trace *Program::trace() const { return impl->trace.get(); }

void Program::observe(Observer *observer) { impl->device->observe(observer); }

void Program::readArena(Address from, std::span<std::byte> to) const {
  impl->device->wait(impl->device->read(from, to));
}

} // namespace weir
