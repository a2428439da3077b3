//===- Flow.cpp - How what is not finite flows through a step -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nan_trace/Flow.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include <algorithm>
#include <set>

namespace weir {

static uint32_t numberOf(const Program &program, const artifact::Entry &entry) {
  const auto &entries = *program.plan().entries();
  uint32_t number = 0;
  while (entries[number] != &entry)
    ++number;
  return number;
}

Flow::Flow(Program &program, const artifact::Entry &entry)
    : actions(program.plan(), entry), program(program), number(numberOf(program, entry)) {
  lookAtVariables();
  lookAtInputs();
  program.observe(this);
}

Flow::~Flow() { program.observe(nullptr); }

/// All of a tensor that lies there without gaps.
static ActionOperand whole(const artifact::Ref &ref, Address at, artifact::DType type,
                           uint64_t bytes) {
  spec::Footprint footprint{"", spec::Mode::read, bytes, {}};
  return {ref, at, std::move(footprint), artifact::elementOf(type), {}};
}

void Flow::lookAtVariables() {
  const auto &variables = *program.plan().variables();
  for (uint32_t i = 0; i < variables.size(); ++i) {
    artifact::Ref ref{artifact::Memory::variable, i, 0};
    ActionOperand tensor =
        whole(ref, variables[i]->offset(), variables[i]->dtype(), variables[i]->size());
    if (tensor.isReal())
      given(ref, measure(program, tensor), tensor);
  }
}

void Flow::lookAtInputs() {
  const artifact::Entry &entry = actions.entry;
  for (const artifact::Port *port : *entry.inputs()) {
    const artifact::Ref &ref = *port->ref();
    uint64_t bytes = 0;
    artifact::tensorSize(port->dtype(), *port->shape(), bytes);
    ActionOperand tensor =
        whole(ref, artifact::addressOf(program.plan(), entry, ref), port->dtype(), bytes);
    // What the host has written for the next run cannot be read before it.
    if (ref.memory() == artifact::Memory::buffer &&
        entry.buffers()->Get(ref.index())->space() == artifact::Space::pinned)
      pinned[ref.index()] = *tensor.element;
    else if (tensor.isReal())
      given(ref, measure(program, tensor), tensor);
  }
}

/// Notes what is not finite in `where`, which the host has put into `ref`.
void Flow::given(const artifact::Ref &ref, const Statistics &statistics,
                 const ActionOperand &where) {
  if (statistics.isFinite())
    return;
  add(where, sources.size());
  sources.push_back({{}, ref, statistics.nans > 0, /*accident=*/false, statistics, {}, {}});
}

/// What an operand that is written as a whole held before. Of one with gaps the rest stays.
void Flow::forget(const ActionOperand &tensor) {
  auto found = parts.find({tensor.ref.memory(), tensor.ref.index()});
  if (found == parts.end() || !tensor.footprint.dims.empty())
    return;
  Address begin = tensor.at, end = begin + tensor.footprint.bytes;
  std::vector<Part> left;
  for (const Part &part : found->second) {
    if (part.begin < std::min(part.end, begin))
      left.push_back({part.begin, std::min(part.end, begin), part.source});
    if (std::max(part.begin, end) < part.end)
      left.push_back({std::max(part.begin, end), part.end, part.source});
  }
  found->second = std::move(left);
}

void Flow::add(const ActionOperand &tensor, size_t source) {
  parts[{tensor.ref.memory(), tensor.ref.index()}].push_back(
      {tensor.at, tensor.at + tensor.footprint.extent(), source});
}

std::vector<size_t> Flow::sourcesIn(const artifact::Ref &ref, Address at, uint64_t bytes) const {
  std::vector<size_t> list;
  if (auto found = parts.find({ref.memory(), ref.index()}); found != parts.end())
    for (const Part &part : found->second)
      if (part.begin < at + bytes && at < part.end)
        list.push_back(part.source);
  return list;
}

void Flow::before(const ActionPlace &place) {
  if (place.entry != number || !actions.begins(place.action))
    return;
  reads.clear();
  for (const ActionOperand &tensor : actions.operands(place)) {
    Found &found = reads.emplace_back();
    if (!spec::reads(tensor.footprint.mode) || tensor.footprint.workspace)
      continue;
    found.sources = sourcesIn(tensor.ref, tensor.at, tensor.footprint.extent());
    if (found.sources.empty() || !tensor.isReal())
      continue;
    // There may have been something in a part that is not read.
    Statistics read = measure(program, tensor);
    found.nan = read.nans > 0;
    if (read.isFinite())
      found.sources.clear();
  }
}

/// A copy of what is not finite is of the same sources.
void Flow::copied(const std::vector<ActionOperand> &operands) {
  forget(operands[1]);
  for (size_t source : reads[0].sources)
    add(operands[1], source);
  auto input = pinned.find(operands[0].ref.index());
  if (operands[0].ref.memory() != artifact::Memory::buffer || input == pinned.end())
    return;
  ActionOperand to = operands[1];
  to.element = input->second;
  if (to.isReal())
    given(operands[0].ref, measure(program, to), to);
}

/// Whether the infinities that the action has written are constants of its own.
bool Flow::means(const ActionPlace &place, const Statistics &written) const {
  const artifact::Launch *launch = actions[place.action].work_as_Launch();
  if (!launch)
    return false;
  uint32_t index = launch->kernel();
  const auto &kernels = *actions.program.kernels();
  int constants = kernels[index - kernels[index]->part()]->infinities();
  return (written.above == 0 || (constants & 1)) && (written.below == 0 || (constants & 2));
}

void Flow::after(const ActionPlace &place) {
  if (place.entry != number || !actions.ends(place.action))
    return;
  std::vector<ActionOperand> operands = actions.operands(place);
  if (actions[place.action].work_as_Copy())
    return copied(operands);
  Origin made{place, {}, false, false, {}, {}, {}};
  std::vector<size_t> bad;
  bool meant = true, counts = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ActionOperand &tensor = operands[i];
    if (!spec::writes(tensor.footprint.mode) || !tensor.isReal())
      continue;
    Statistics written = measure(program, tensor);
    if (onWritten)
      onWritten(place, tensor, written);
    forget(tensor);
    bool isCount = tensor.counts && written.largest > 0;
    counts |= isCount;
    if (written.isFinite() && !isCount)
      continue;
    if (bad.empty())
      made.ref = tensor.ref;
    bad.push_back(i);
    made.nan |= written.nans > 0;
    meant &= written.infinities() == 0 || means(place, written);
  }
  if (bad.empty())
    return;
  std::set<size_t> nans, accidents;
  for (const Found &read : reads)
    for (size_t source : read.sources) {
      if (read.nan && sources[source].nan)
        nans.insert(source);
      if (sources[source].accident)
        accidents.insert(source);
      if (!made.meant)
        made.meant = sources[source].meant.value_or(source);
    }
  const std::set<size_t> &followed = nans.empty() ? accidents : nans;
  made.from.assign(followed.begin(), followed.end());
  // Of what is meant, what is computed from it is meant as well.
  made.accident = !made.from.empty() || (!made.meant && !meant);
  if (!made.from.empty())
    made.meant.reset();
  for (size_t i : bad)
    add(operands[i], sources.size());
  if (counts)
    counted.push_back(sources.size());
  sources.push_back(std::move(made));
}

std::optional<size_t> Flow::origin() const {
  std::vector<size_t> open = counted;
  for (const artifact::Port *port : *actions.entry.outputs()) {
    if (port->kind() == artifact::PortKind::tensor)
      continue;
    std::vector<size_t> found =
        sourcesIn(*port->ref(), artifact::addressOf(actions.program, actions.entry, *port->ref()),
                  sizeOf(artifact::elementOf(port->dtype())));
    open.insert(open.end(), found.begin(), found.end());
  }
  std::set<size_t> seen;
  std::optional<size_t> first;
  while (!open.empty()) {
    size_t source = open.back();
    open.pop_back();
    if (!seen.insert(source).second)
      continue;
    if (sources[source].from.empty())
      first = std::min(first.value_or(source), source);
    open.insert(open.end(), sources[source].from.begin(), sources[source].from.end());
  }
  return first;
}

std::optional<ActionPlace> Flow::readerOf(size_t number) const {
  for (const Origin &source : sources)
    if (std::find(source.from.begin(), source.from.end(), number) != source.from.end())
      return source.place;
  return std::nullopt;
}

} // namespace weir
