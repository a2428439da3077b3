//===- ProgramChecker.cpp - Rules over a whole artifact -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "artifact/Checker.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include "support/precision/LossScale.h"
#include "support/precision/ParameterDtype.h"
#include "support/program/Limits.h"
#include "support/program/Names.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace weir::artifact {

void reject(const std::string &where, const std::string &what) {
  throw Failure(Exit::model,
                "the artifact cannot be used: " + where + ": " + what +
                    "; it is damaged or was made by another version: compile it again");
}

static void require(bool holds, const std::string &where, const std::string &what) {
  if (!holds)
    reject(where, what);
}

static std::string quoted(const flatbuffers::String *name) { return "'" + name->str() + "'"; }

void ProgramChecker::check() {
  checkDevices();
  checkMesh();
  require(program.batch() >= 1 && program.batch() < maxDim, "batch", "it is out of range");
  require(program.accumulate() >= 1 && program.accumulate() <= limits::rounds, "accumulate",
          "it is out of range");
  require((program.steps() != 0) != (program.epochs() != 0), "recipe",
          "exactly one of steps and epochs must be set");
  require(program.steps() <= maxSteps && program.epochs() <= maxSteps, "recipe",
          "its steps or epochs are out of range");
  require(program.warmup() <= maxSteps, "recipe", "its warm-up is out of range");
  checkNames();
  checkConfigs();
  checkTied();
  checkChoices();
  checkKeeping();
  checkPlacements();
  checkVariables();
  checkKernels();

  std::set<std::string_view> names;
  for (const Entry *entry : *program.entries()) {
    require(names.insert(entry->name()->string_view()).second, "entry " + quoted(entry->name()),
            "there are two of that name");
    std::string where = "entry " + quoted(entry->name());
    for (const Buffer *buffer : *entry->buffers())
      checkLocation(where, buffer->location());
    for (const auto *ports : {entry->inputs(), entry->outputs()})
      for (const Port *port : *ports)
        checkLocation(where, port->location());
    if (entry->model_lines())
      for (const LineFlops *line : *entry->model_lines())
        checkLocation(where, &line->location());
    checkActions(where, *entry->actions(), 0);
    EntryChecker(program, *entry).check();
  }
  for (const char *name : {"init", "step"})
    require(names.count(name), "entries", std::string("'") + name + "' is missing");
  checkOthers();
}

void ProgramChecker::checkDevices() {
  require(program.devices()->size() == 1, "devices",
          "it is for " + std::to_string(program.devices()->size()) +
              " devices, where this Weir runs programs of one");
  require(precisionNamed(EnumNamePrecision(program.precision())).has_value(), "precision",
          "it is not one of " + precisionOptions());
  require(program.master() <= DType::MAX, "master", unknownType(program.master()));
  require(parameterDtypeNamed(nameOf(elementOf(program.master()))).has_value(), "master",
          "it is not " + parameterDtypeOptions());
  require(!program.loss_scale() || lossScaleNamed(program.loss_scale()->string_view()),
          "loss scale", "it is not one of " + lossScaleOptions());
  const Device &device = deviceOf(program);
  require(device.queues() >= 1 && device.queues() <= limits::queues, "queues",
          "they are out of range");
  require(device.arena() <= maxArena, "arena", "more than 1 TiB is asked for");
  require(device.pinned() <= maxArena, "arena", "more than 1 TiB of the host is asked for");
  require(device.host() <= maxArena, "arena", "more than 1 TiB of the host is asked for");
  require(device.persistent() <= device.arena(), "arena",
          "the persistent segment is larger than the arena");
  require(device.thread_scratch() <= limits::threadScratch, "thread scratch",
          "more than 16 GiB per thread are asked for");
  require(!program.blobs() || program.blobs()->size() <= 1, "code",
          "it is in several pieces, where this Weir loads one");
  if (program.blobs())
    for (const Blob *blob : *program.blobs())
      require(blob->format() <= BlobFormat::MAX, "code", "it is of an unknown format");
}

std::string unknownType(DType dtype) {
  std::string known;
  for (const ElementRow &row : std::span(elementRows).first(programElements))
    known += std::string(known.empty() ? "" : ", ") + row.name;
  return "its element type is number " + std::to_string(int(dtype)) + ", expected one of " + known;
}

void requireName(const std::string &where, const flatbuffers::String *name, bool optional) {
  require(optional || name->size() > 0, where, "it has no name");
  require(isPlainText(name->string_view()), where,
          "its name, '" + shownName(name->string_view()) + "', is no plain text");
}

/// First of all, since the messages of other rules have the names in them.
void ProgramChecker::checkNames() {
  requireName("the model", program.model(), /*optional=*/true);
  requireName("the target", deviceOf(program).target());
  if (const flatbuffers::String *strategy = program.strategy()) {
    require(isPlainText(strategy->string_view()), "strategy", "it is no plain text");
    require(strategy->size() <= limits::strategyText, "strategy",
            concat("it has ", strategy->size(), " bytes: expected at most ", limits::strategyText));
  }
  for (const Variable *variable : *program.variables())
    requireName("a variable", variable->name());
  if (program.configs())
    for (const Config *config : *program.configs())
      requireName("a config", config->name());
  for (const Kernel *kernel : *program.kernels())
    requireName("a kernel", kernel->symbol());
  for (const Entry *entry : *program.entries()) {
    requireName("an entry", entry->name());
    for (const auto *ports : {entry->inputs(), entry->outputs()})
      for (const Port *port : *ports) {
        requireName("an input or output of '" + entry->name()->str() + "'", port->name());
        if (port->limit_config())
          requireName("what limits '" + port->name()->str() + "'", port->limit_config(),
                      /*optional=*/true);
      }
  }
}

namespace {

using Ports = flatbuffers::Vector<flatbuffers::Offset<Port>>;

/// Whether two entries' ports of one name are the same but for the number of rows.
bool alike(const Port &a, const Port &b) {
  if (a.dtype() != b.dtype() || a.shape()->size() != b.shape()->size() || a.weight() != b.weight())
    return false;
  for (uint32_t i = 1; i < a.shape()->size(); ++i)
    if (a.shape()->Get(i) != b.shape()->Get(i))
      return false;
  return true;
}

/// The first port that the other entry has not alike, or null.
const Port *firstUnlike(const Ports &ports, const Ports &others) {
  auto key = [](const Port &port) {
    return std::tuple(port.name()->string_view(), port.kind(), port.term());
  };
  std::map<std::tuple<std::string_view, PortKind, uint32_t>, const Port *> byKey;
  for (const Port *other : others)
    byKey[key(*other)] = other;
  for (const Port *port : ports)
    if (auto other = byKey.find(key(*port)); other == byKey.end() || !alike(*port, *other->second))
      return port;
  return nullptr;
}

void requireAlike(const std::string &where, const Ports &ports, const std::string &other,
                  const Ports &others) {
  for (auto [here, there] : {std::pair(&ports, &others), std::pair(&others, &ports)})
    if (const Port *port = firstUnlike(*here, *there))
      reject(where, "it is unlike '" + other + "' in " + quoted(port->name()));
}

} // namespace

void verifyEvaluations(const Program &program) {
  std::map<std::string_view, const Entry *> entries;
  for (const Entry *entry : *program.entries())
    entries[entry->name()->string_view()] = entry;
  const Entry &step = *entries["step"];
  for (const char *name : {"step", "eval", "eval_one"}) {
    if (!entries.count(name))
      continue;
    const Entry &entry = *entries[name];
    std::string where = std::string("entry '") + name + "'";
    const Port *first = nullptr;
    for (const Port *port : *entry.inputs()) {
      first = first ? first : port;
      require(port->shape()->size() > 0 && port->shape()->Get(0) == first->shape()->Get(0), where,
              "the input " + quoted(port->name()) + " has other rows than " +
                  quoted(first->name()));
    }
    if (&entry != &step)
      requireAlike(where, *entry.inputs(), "step", *step.inputs());
  }
  if (entries.count("eval") && entries.count("eval_one"))
    requireAlike("entry 'eval_one'", *entries["eval_one"]->outputs(), "eval",
                 *entries["eval"]->outputs());
}

void ProgramChecker::checkVariables() {
  std::set<std::string_view> names;
  std::vector<std::pair<uint64_t, const Variable *>> byAddress;
  for (const Variable *variable : *program.variables()) {
    std::string where = "variable " + quoted(variable->name());
    require(names.insert(variable->name()->string_view()).second, where,
            "there are two of that name");
    // The plan's name of a scalar of the run, and what safetensors keeps for itself.
    require(!variable->name()->string_view().starts_with(runPrefix) &&
                variable->name()->string_view() != "__metadata__",
            where, "the name is reserved");
    require(variable->dtype() <= DType::MAX, where, unknownType(variable->dtype()));
    require(variable->role() <= Role::MAX, where, "its role is unknown");
    require(isAligned(variable->shape()), where, "its shape is not aligned in the file");
    uint64_t size;
    require(ownSize(program, variable->dtype(), *variable->shape(), variable->layout(), size),
            where, "its shape is not positive or too large, or its layout is of another");
    require(size == variable->size(), where,
            "its shape needs " + std::to_string(size) + " bytes, it has " +
                std::to_string(variable->size()));
    require(variable->offset() % limits::alignment == 0, where,
            "its offset is not a multiple of 64");
    require(variable->space() == Space::persistent || variable->space() == Space::host, where,
            "it lies in memory that does not last");
    bool onHost = variable->space() == Space::host;
    uint64_t room = onHost ? deviceOf(program).host() : deviceOf(program).persistent();
    require(variable->offset() <= room && size <= room - variable->offset(), where,
            std::string("it lies outside the ") +
                (onHost ? "host's memory" : "persistent segment"));
    require(variable->role() != Role::run || (variable->dtype() == DType::i32 && size == 4), where,
            "a scalar of the run is one i32");
    checkLocation(where, variable->location());
    if (size)
      byAddress.emplace_back(addressOf(program, *variable), variable);
  }
  std::sort(byAddress.begin(), byAddress.end());
  for (size_t i = 1; i < byAddress.size(); ++i) {
    const Variable *before = byAddress[i - 1].second, *after = byAddress[i].second;
    require(byAddress[i].first - byAddress[i - 1].first >= before->size(),
            "variable " + quoted(after->name()), "it overlaps " + quoted(before->name()));
  }
}

void ProgramChecker::checkConfigs() {
  std::set<std::string_view> names;
  if (program.configs())
    for (const Config *config : *program.configs()) {
      std::string where = "config " + quoted(config->name());
      require(names.insert(config->name()->string_view()).second, where,
              "there are two of that name");
    }
}

void ProgramChecker::checkTied() {
  std::set<std::string_view> names;
  if (program.tied())
    for (const Tied *tied : *program.tied()) {
      std::string where = "the tied rows of " + quoted(tied->entry());
      require(tied->entry()->size() > 0, where, "the entry has no name");
      require(names.insert(tied->entry()->string_view()).second, where, "they are there twice");
    }
}

void ProgramChecker::checkChoices() {
  if (program.choices())
    for (const Choice *choice : *program.choices()) {
      std::string where = "the choice for " + quoted(choice->op());
      require(isPlainText(choice->op()->string_view()), "a choice", "its op is no plain text");
      require(isPlainText(choice->why()->string_view()), where, "its reason is no plain text");
      for (DType type : {choice->computes(), choice->stores()})
        require(type <= DType::MAX, where, unknownType(type));
      checkLocation(where, choice->location());
    }
}

void ProgramChecker::checkPlacements() {
  if (program.placements())
    for (const Placement *placement : *program.placements()) {
      for (const auto *text : {placement->what(), placement->layout(), placement->why()})
        require(isPlainText(text->string_view()), "a placement", "it says what is no plain text");
      checkLocation("the placement of " + quoted(placement->what()), placement->location());
    }
}

/// Times are shown as parts of a step's, and sizes are added up.
void ProgramChecker::checkKeeping() {
  const Keeping *keeping = program.keeping();
  if (!keeping)
    return;
  auto isTime = [](double seconds) { return seconds >= 0 && std::isfinite(seconds); };
  require(isTime(keeping->seconds()), "what a step keeps", "its time is no time");
  for (uint64_t bytes : {keeping->scratch(), keeping->least()})
    require(bytes <= maxArena, "what a step keeps", "it is more than an arena");
  uint64_t room = maxArena;
  for (const Kept *kept : *keeping->tensors()) {
    require(isPlainText(kept->what()->string_view()), "what is kept", "its name is no plain text");
    std::string where = "what is kept of " + quoted(kept->what());
    require(isPlainText(kept->why()->string_view()), where, "its reason is no plain text");
    require(isTime(kept->seconds()), where, "its time is no time");
    require(kept->fate() <= Fate::MAX, where, "what becomes of it is unknown");
    require(kept->times() >= 1 && kept->bytes() <= room / kept->times(), where,
            "it is more than an arena");
    room -= kept->bytes() * kept->times();
    checkLocation(where, kept->location());
  }
}

void ProgramChecker::checkActions(const std::string &where,
                                  const flatbuffers::Vector<flatbuffers::Offset<Action>> &actions,
                                  int depth) {
  for (const Action *action : actions) {
    size_t count = action->locations() ? action->locations()->size() : 0;
    for (size_t i = 0; i < count; ++i)
      checkLocation(where, action->locations()->Get(i));
    if (action->lines())
      for (uint16_t line : *action->lines())
        require(line < count || line == noLine, where, "the line of an op of a launch is unknown");
    // Deeper ones are refused by EntryChecker.
    if (const auto *body = bodyOf(*action); body && depth < int(limits::loops))
      checkActions(where, *body, depth + 1);
  }
}

void ProgramChecker::checkPart(const std::string &where, const Kernel &kernel,
                               const Kernel *before) {
  std::string_view symbol = kernel.symbol()->string_view();
  std::string_view suffix = kernel.suffix() ? kernel.suffix()->string_view() : "";
  require(symbol.size() > suffix.size() && symbol.ends_with(suffix), where,
          "its symbol does not end with its suffix");
  if (kernel.part() == 0)
    return;
  require(before && before->part() + 1 == kernel.part(), where, "the launch before it is missing");
  bool alike = before->shape()->string_view() == kernel.shape()->string_view() &&
               before->thread_scratch() == kernel.thread_scratch() &&
               before->operands()->size() == kernel.operands()->size();
  for (uint32_t i = 0; alike && i < kernel.operands()->size(); ++i) {
    const Operand &a = *before->operands()->Get(i), &b = *kernel.operands()->Get(i);
    alike = a.size() == b.size() && a.mode() == b.mode();
  }
  require(alike, where, "it is unlike the launch before it");
  require(!kernel.meaning(), where, "only the first launch has a meaning");
  require(!kernel.tensors() && !kernel.counts(), where,
          "only the first launch says what its operands are");
}

void ProgramChecker::checkTensors(const std::string &where, const Kernel &kernel) {
  uint32_t operands = kernel.operands()->size();
  if (kernel.tensors()) {
    require(kernel.tensors()->size() <= operands, where, "it has more tensors than operands");
    for (uint32_t i = 0; i < kernel.tensors()->size(); ++i) {
      const TensorType &tensor = *kernel.tensors()->Get(i);
      require(tensor.dtype() <= DType::MAX, where, unknownType(tensor.dtype()));
      require(isAligned(tensor.shape()), where, "a tensor's shape is not aligned in the file");
      for (int64_t size : *tensor.shape())
        require(size >= 0, where, "a tensor's shape is negative");
    }
  }
  if (kernel.counts())
    for (uint16_t count : *kernel.counts())
      require(kernel.tensors() && count < kernel.tensors()->size(), where,
              "what it counts in is no operand");
}

void ProgramChecker::checkFlops(const std::string &where, const Kernel &kernel) {
  require(kernel.recomputed_flops() <= kernel.flops(), where,
          "it recomputes more FLOPs than it has");
  if (!kernel.op_flops())
    return;
  require(isAligned(kernel.op_flops()), where, "its ops' FLOPs are not aligned in the file");
  require(kernel.part() == 0 && kernel.ops() && kernel.ops()->size() == kernel.op_flops()->size(),
          where, "it has not as many ops as FLOPs of ops");
  uint64_t sum = kernel.recomputed_flops();
  for (const OpFlops *op : *kernel.op_flops()) {
    require(op->products() <= op->all(), where, "an op's products take more FLOPs than the op");
    require(op->all() <= kernel.flops() - sum, where, "its ops take more FLOPs than it does");
    sum += op->all();
  }
  require(sum == kernel.flops(), where, "its ops take fewer FLOPs than it does");
}

void ProgramChecker::checkKernels() {
  const Kernel *before = nullptr;
  std::set<std::string_view> symbols;
  for (const Kernel *kernel : *program.kernels()) {
    std::string where = "kernel " + quoted(kernel->symbol());
    require(kernel->tasks() >= 1 && kernel->tasks() < maxTasks, where,
            "its number of tasks is out of range");
    require(kernel->threads() >= 1 && kernel->threads() <= 1024, where,
            "its number of threads is out of range");
    require(kernel->shared() <= (1 << 20), where, "its threads share too much memory");
    require(kernel->thread_scratch() <= deviceOf(program).thread_scratch(), where,
            "it needs more scratch than the program states");
    require(isAligned(kernel->operands()), where, "its operands are not aligned in the file");
    require(kernel->operands()->size() <= maxOperands, where, "it takes too many operands");
    require(kernel->blob() < (program.blobs() ? program.blobs()->size() : 0), where,
            "its code is missing");
    for (const Operand *operand : *kernel->operands()) {
      require(operand->size() <= maxArena, where, "an operand is larger than any arena");
      require(operand->mode() <= Mode::MAX, where, "it does something unknown with an operand");
    }
    checkPart(where, *kernel, before);
    checkFlops(where, *kernel);
    checkTensors(where, *kernel);
    require(symbols.insert(kernel->symbol()->string_view()).second, where,
            "there are two of that name");
    before = kernel;
  }
}

void ProgramChecker::checkLocation(const std::string &where, const Location *location) {
  require(!location || location->line() == 0 || location->file() < program.files()->size(), where,
          "its source file is unknown");
}

void verifySemantics(const Program &program) {
  ProgramChecker checker(program);
  checker.check();
  checker.checkRanks();
  checker.checkAlternatives();
}

} // namespace weir::artifact
