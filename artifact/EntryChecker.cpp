//===- EntryChecker.cpp - Rules of one entry ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "artifact/Checker.h"
#include "artifact/Flops.h"
#include "artifact/Planned.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "support/planned/Verify.h"
#include <cmath>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace weir::artifact {

EntryChecker::EntryChecker(const Program &program, const Entry &entry)
    : program(program), entry(entry) {}

std::string EntryChecker::place() const {
  std::string text = "entry '" + entry.name()->str() + "'";
  if (*kind)
    text += ", action " + std::to_string(current) + " (" + kind + ")";
  return text;
}

void EntryChecker::require(bool holds, const std::string &what) const {
  if (!holds)
    reject(place(), what);
}

void EntryChecker::check() {
  checkBuffers();
  checkPorts(*entry.inputs(), true);
  checkPorts(*entry.outputs(), false);
  checkActions(*entry.actions(), 0);
  // Whoever reads the entry makes them all.
  require(entry.events() <= current, "it has more events than actions");
  checkFlops();
  if (planned::Verdict verdict = planned::verify(plannedEntry(program, entry)); verdict.fault)
    reject("entry '" + entry.name()->str() + "'", verdict.fault->message);
}

void EntryChecker::checkBuffers() {
  uint32_t index = 0;
  for (const Buffer *buffer : *entry.buffers()) {
    std::string name = "buffer " + std::to_string(index++);
    require(buffer->space() == Space::scratch || buffer->space() == Space::pinned ||
                buffer->space() == Space::host,
            name + " lies in a memory that the device has not");
    require(buffer->space() != Space::scratch || buffer->offset() >= deviceOf(program).persistent(),
            name + " lies in the persistent segment");
  }
}

void EntryChecker::checkPorts(const flatbuffers::Vector<flatbuffers::Offset<Port>> &ports,
                              bool input) {
  std::set<std::pair<std::string_view, std::pair<PortKind, uint32_t>>> seen;
  std::map<std::string_view, bool> ratios;
  for (const Port *port : ports) {
    std::string name = (input ? "input '" : "output '") + port->name()->str() + "'";
    require(port->kind() <= PortKind::MAX, name + ": its kind is unknown");
    require(port->dtype() <= DType::MAX, name + ": " + unknownType(port->dtype()));
    // A ratio has a sum and a count for each of its terms; anything else has its name to itself.
    bool ratio = port->kind() == PortKind::sum || port->kind() == PortKind::count;
    bool isNew = seen.insert({port->name()->string_view(), {port->kind(), port->term()}}).second;
    auto [owner, isFirst] = ratios.emplace(port->name()->string_view(), ratio);
    require(isNew && (isFirst || (ratio && owner->second)), name + " is there twice");
    require(input == (port->kind() == PortKind::input), name + ": its kind is another's");
    require(isAligned(port->shape()), name + ": its shape is not aligned in the file");
    uint64_t size;
    require(ownSize(program, port->dtype(), *port->shape(), port->layout(), size),
            name + ": its shape is not positive or too large, or its layout is of another");
    checkRef(name, *port->ref());
    require(!isOfHost(*port->ref()),
            name + " lies where the host keeps what devices have no room for");
    if (port->kind() != PortKind::input && port->kind() != PortKind::tensor)
      require(size == 4 && sizeOf(elementOf(port->dtype())) == 4, name + " must be one number");
    require(std::isfinite(port->weight()), name + ": its weight is not finite");
    require(port->limit() >= 0, name + ": its limit is negative");
    bool counts = rowOf(elementOf(port->dtype())).kind != ElementKind::real;
    require(port->limit() == 0 || (port->kind() == PortKind::input && counts),
            name + " has a limit, but is no input of integers");
  }
}

void EntryChecker::checkActions(const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions,
                                uint32_t depth) {
  for (const Action *action : actions) {
    checkAction(*action, depth);
    kind = "";
    if (const auto *body = bodyOf(*action)) {
      ++current;
      checkActions(*body, depth + 1);
    } else {
      ++current;
    }
  }
}

void EntryChecker::checkAction(const Action &action, uint32_t depth) {
  require(action.work_type() > Work::NONE && action.work_type() <= Work::MAX,
          "its kind is unknown");
  kind = EnumNameWork(action.work_type());
  require(action.queue() < deviceOf(program).queues(), "it is on an unknown queue");
  require(isAligned(action.operands()) && isAligned(action.moves()),
          "its operands are not aligned in the file");
  require(depth <= limits::loops, "it stands in too many loops");
  checkWork(action);
  size_t operands = action.operands() ? action.operands()->size() : 0;
  size_t expected = footprintsOf(program, action).size();
  require(operands == expected,
          "it has " + std::to_string(operands) + " operands, not " + std::to_string(expected));
  bool isCall = action.work_type() == Work::Call;
  for (uint32_t i = 0; i < operands; ++i) {
    checkRef("operand " + std::to_string(i), *action.operands()->Get(i));
    // Libraries read numbers where they are; a loop's round is one.
    require((!isCall && action.work_type() != Work::Loop) ||
                action.operands()->Get(i)->offset() % spec::floatBytes == 0,
            "operand " + std::to_string(i) + " is not aligned");
  }
  bool isCopy = action.work_type() == Work::Copy;
  uint32_t ofHost = 0;
  for (uint32_t i = 0; i < operands; ++i)
    ofHost += isOfHost(*action.operands()->Get(i));
  require(ofHost <= (isCopy ? 1 : 0), "it works on the host's memory, which copies alone reach");
  if (!action.moves())
    return;
  for (const Move *move : *action.moves()) {
    require(move->operand() < operands, "an operand that it has not moves");
    require(move->loop() < depth, "an operand moves with a loop that is not around it");
    require(!isCall || move->bytes() % int64_t(spec::floatBytes) == 0,
            "an operand that moves is not aligned");
  }
}

void EntryChecker::checkWork(const Action &action) {
  if (const Launch *launch = action.work_as_Launch()) {
    require(launch->kernel() < program.kernels()->size(),
            "there is no kernel " + std::to_string(launch->kernel()));
  } else if (const Call *call = action.work_as_Call()) {
    require(isAligned(call->fields()), "its fields are not aligned in the file");
    std::string why;
    require(readSpec(*call, why).has_value(), why);
  } else if (const Loop *loop = action.work_as_Loop()) {
    require(loop->count() >= 1 && loop->count() <= limits::rounds, "its count is out of range");
    require(loop->body()->size() > 0, "its body is empty");
  } else if (const Copy *copy = action.work_as_Copy()) {
    require(copy->size() > 0, "it is empty");
  } else if (const Collective *collective = action.work_as_Collective()) {
    checkCollective(*collective);
    require(!program.hosts() || action.queue() == 0,
            "it is on another queue than 0, and a process has several ranks, which meet there");
  } else if (const Transfer *transfer = action.work_as_Transfer()) {
    checkTransfer(*transfer);
    require(action.queue() == 0, "it is on another queue than 0, where no rank looks for it");
  } else if (const Record *record = action.work_as_Record()) {
    require(record->event() < entry.events(), "its event is unknown");
  } else if (const Wait *wait = action.work_as_Wait()) {
    require(wait->event() < entry.events(), "its event is unknown");
  }
}

bool EntryChecker::isOfHost(const Ref &ref) const {
  Space space = ref.memory() == Memory::variable ? program.variables()->Get(ref.index())->space()
                                                 : entry.buffers()->Get(ref.index())->space();
  return space == Space::host;
}

void EntryChecker::checkRef(const std::string &name, const Ref &ref) {
  require(ref.memory() <= Memory::MAX, name + " is in an unknown memory");
  if (ref.memory() == Memory::variable)
    require(ref.index() < program.variables()->size(), name + " is in an unknown variable");
  else
    require(ref.index() < entry.buffers()->size(), name + " is in an unknown buffer");
}

void EntryChecker::checkFlops() const {
  Executed executed = executedBy(program, entry);
  require(std::max({executed.flops, executed.products, executed.bytes, executed.copied}) <=
              mostFlops,
          "its actions compute or move more than can be counted");
  require(isAligned(entry.model_lines()), "its lines' FLOPs are not aligned in the file");
  std::set<ModelLine> seen;
  double sum = 0;
  if (entry.model_lines())
    for (const LineFlops *line : *entry.model_lines()) {
      uint32_t number = line->location().line();
      bool isNew = seen.insert({number ? line->location().file() : 0, number}).second;
      require(isNew, "the model FLOPs of a line are there twice");
      require(line->flops() >= 0, "the model FLOPs of a line are negative or not a number");
      sum += line->flops();
    }
  require(std::isfinite(sum), "its model FLOPs are not finite");
  std::ostringstream text;
  text << std::setprecision(17) << "its model FLOPs are " << entry.model_flops().value_or(0)
       << ", and those of its lines " << sum;
  require(sum == entry.model_flops().value_or(0), text.str());
}

} // namespace weir::artifact
