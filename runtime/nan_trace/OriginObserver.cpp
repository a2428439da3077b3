//===- OriginObserver.cpp - What one action read and wrote, in words ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nan_trace/OriginObserver.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "support/Text.h"
#include <algorithm>

namespace weir {
namespace {

/// Of the operands that are told of, and of the ops.
constexpr size_t mostTensors = 8, mostOps = 12;

/// ", m.weir:12,14" of an action; "" where no line is known.
std::string linesBehind(const Actions &actions, uint32_t action) {
  std::string lines = actions.lines(action);
  return lines.empty() ? "" : ", " + lines;
}

std::string text(const Actions &actions, const ActionPlace &place) {
  return actions.describe(place) + linesBehind(actions, place.action);
}

/// `verb` gives the word for what is done with a tensor.
template <class Verb>
void add(std::vector<std::string> &lines, const Actions &actions, Verb verb,
         std::vector<Seen> seen) {
  std::stable_partition(seen.begin(), seen.end(),
                        [](const Seen &one) { return !one.statistics.isFinite(); });
  for (size_t i = 0; i < std::min(seen.size(), mostTensors); ++i) {
    const auto &[tensor, statistics] = seen[i];
    std::string what = concat("  it ", verb(tensor), " ", actions.nameOf(tensor.ref), ": ");
    lines.push_back(
        what + (tensor.counts
                    ? concat("the number of non-finite elements of an update, ", statistics.largest)
                    : statistics.text(tensor.shape)));
  }
  if (seen.size() > mostTensors)
    lines.push_back(concat("  and ", seen.size() - mostTensors, " more"));
}

} // namespace

OriginObserver::OriginObserver(Program &program, const Actions &actions, const ActionPlace &at,
                               OpFinder *finder)
    : program(program), actions(actions), at(at), finder(finder) {
  program.observe(this);
}

OriginObserver::~OriginObserver() { program.observe(nullptr); }

std::vector<Seen> OriginObserver::look(const ActionPlace &place, bool (*which)(spec::Mode)) const {
  std::vector<Seen> seen;
  for (const ActionOperand &tensor : actions.operands(place))
    if (which(tensor.footprint.mode) && tensor.isReal())
      seen.push_back({tensor, measure(program, tensor)});
  return seen;
}

void OriginObserver::before(const ActionPlace &place) {
  if (place.entry != at.entry || place.round != at.round || !actions.begins(place.action))
    return;
  running = place.action == at.action;
  if (!running)
    return;
  reads = look(place, spec::reads);
  if (finder)
    found = finder->find(place);
}

void OriginObserver::after(const ActionPlace &place) {
  if (!running || place.round != at.round || !actions.ends(place.action))
    return;
  writes = look(place, spec::writes);
  running = false;
}

/// The shape of an input or a variable.
static std::vector<int64_t> shapeOf(const Actions &actions, const artifact::Ref &ref) {
  const flatbuffers::Vector<int64_t> *shape = nullptr;
  if (ref.memory() == artifact::Memory::variable)
    shape = actions.program.variables()->Get(ref.index())->shape();
  for (const artifact::Port *port : *actions.entry.inputs())
    if (port->ref()->memory() == ref.memory() && port->ref()->index() == ref.index())
      shape = port->shape();
  return {shape->begin(), shape->end()};
}

std::vector<std::string> tellGiven(const Flow &flow, size_t source) {
  const auto &[place, ref, nan, accident, statistics, from, meant] = flow.source(source);
  std::vector<std::string> lines = {
      concat("existed before the step began, in ", flow.actions.nameOf(ref)),
      concat("  it has ", statistics.text(shapeOf(flow.actions, ref)))};
  if (auto reader = flow.readerOf(source))
    lines.push_back(concat("  it is first read by ", text(flow.actions, *reader)));
  return lines;
}

std::vector<std::string> tellMade(const Flow &flow, size_t source, const OriginObserver &observer) {
  const Actions &actions = flow.actions;
  const Origin &origin = flow.source(source);
  std::vector<std::string> lines = {concat("is computed by ", actions.describe(*origin.place))};
  if (const std::optional<FoundOp> &op = observer.op()) {
    lines.push_back(concat("  ", op->at.empty() ? "" : op->at + ": ", op->what));
  } else {
    std::vector<std::string> ops = actions.ops(origin.place->action);
    if (!ops.empty())
      lines.push_back(concat("  it computes ", joinFew(ops, ", ", mostOps)));
  }
  std::vector<Seen> bad;
  for (const Seen &seen : observer.written())
    if (!seen.statistics.isFinite() || (seen.tensor.counts && seen.statistics.largest > 0))
      bad.push_back(seen);
  // A buffer is called by what it held first.
  auto writing = [&](const ActionOperand &tensor) {
    bool over = std::any_of(observer.read().begin(), observer.read().end(), [&](const Seen &read) {
      return read.tensor.ref.memory() == tensor.ref.memory() &&
             read.tensor.ref.index() == tensor.ref.index();
    });
    return over ? "overwrites" : "writes";
  };
  add(lines, actions, writing, bad);
  add(lines, actions, [](const ActionOperand &) { return "reads"; }, observer.read());
  if (origin.meant) {
    const Origin &from = flow.source(*origin.meant);
    lines.push_back(concat("  the infinities that it reads ",
                           from.place
                               ? "are computed by " + text(actions, *from.place)
                               : "existed before the step began, in " + actions.nameOf(from.ref)));
  }
  return lines;
}

} // namespace weir
