//===- Describe.cpp - An artifact as facts --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/Describe.h"
#include "artifact/Actions.h"
#include "artifact/Alternatives.h"
#include "artifact/Lines.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "runtime/cuda/Code.h"
#include "runtime/cuda/Cubin.h"
#include "strategy/Fields.h"
#include "support/mesh/MachineRates.h"
#include "support/precision/LossScale.h"
#include "support/program/PrefetchDepth.h"
#include "tools/weir/inspect/InspectFlops.h"
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

using nlohmann::ordered_json;

namespace weir {
namespace {

using Actions = flatbuffers::Vector<flatbuffers::Offset<artifact::Action>>;

std::string text(const flatbuffers::String *s) { return s ? s->str() : std::string(); }

class Describer {
public:
  explicit Describer(const artifact::Program &program)
      : program(program), device(artifact::deviceOf(program)) {}

  ordered_json describe();

private:
  std::string place(const artifact::Location *location) const;
  ordered_json strategy() const;
  ordered_json variables() const;
  ordered_json memory() const;
  ordered_json meshes() const;
  uint64_t inputBytes() const;
  ordered_json entryMemory(const artifact::Entry &entry) const;
  void walk(const std::string &entry, const Actions &actions, uint64_t times);
  void add(ordered_json call, const Locations *at, uint64_t times);

  const artifact::Program &program;
  const artifact::Device &device;
  std::vector<std::map<std::string, uint64_t>> launches; // per kernel: entry -> times
  std::vector<Lines> kernelLines;                        // per kernel
  ordered_json calls = ordered_json::array();
};

std::string Describer::place(const artifact::Location *location) const {
  if (!location || location->line() == 0)
    return "";
  return program.files()->Get(location->file())->str() + ":" + std::to_string(location->line());
}

ordered_json Describer::strategy() const {
  if (!program.strategy())
    return nullptr;
  ordered_json result = ordered_json::array();
  for (const auto &[name, value] : strategy::recordedFields(program.strategy()->string_view())) {
    const strategy::Field *known = strategy::findField(name);
    result.push_back(
        {{"field", name}, {"value", value}, {"help", known ? std::string(known->help) : ""}});
  }
  return result;
}

ordered_json Describer::variables() const {
  ordered_json result = ordered_json::array();
  for (const artifact::Variable *v : *program.variables())
    result.push_back({{"name", text(v->name())},
                      {"role", artifact::EnumNameRole(v->role())},
                      {"type", nameOf(artifact::elementOf(v->dtype()))},
                      {"shape", std::vector<int64_t>(v->shape()->begin(), v->shape()->end())},
                      {"bytes", v->size()},
                      {"at", place(v->location())}});
  return result;
}

/// Of each that the artifact has programs for, the first first; code that is the first one's has no
/// bytes.
ordered_json Describer::meshes() const {
  ordered_json all = ordered_json::array();
  for (const artifact::Program *one : artifact::alternativesOf(program)) {
    uint64_t code = 0;
    if (one->blobs() && (one == &program || one->blobs() != program.blobs()))
      for (const artifact::Blob *blob : *one->blobs())
        code += blob->bytes()->size();
    all.push_back({{"mesh", artifact::hostsOf(*one).text()},
                   {"processes", artifact::hostsOf(*one).ranks()},
                   {"arena", artifact::deviceOf(*one).arena()},
                   {"code", code}});
  }
  return all;
}

/// The buffers alive together where the sum of their sizes is largest.
ordered_json Describer::entryMemory(const artifact::Entry &entry) const {
  uint64_t end = device.persistent(), largest = 0;
  uint32_t peak = 0;
  std::map<uint32_t, int64_t> change;
  for (const artifact::Buffer *b : *entry.buffers()) {
    if (b->space() != artifact::Space::scratch)
      continue;
    end = std::max(end, b->offset() + b->size());
    change[b->first()] += b->size();
    change[b->last() + 1] -= b->size();
  }
  uint64_t live = 0;
  for (auto [action, bytes] : change) {
    live += bytes;
    if (live > largest) {
      largest = live;
      peak = action;
    }
  }
  std::vector<const artifact::Buffer *> alive;
  for (const artifact::Buffer *b : *entry.buffers())
    if (b->space() == artifact::Space::scratch && b->first() <= peak && peak <= b->last())
      alive.push_back(b);
  std::stable_sort(alive.begin(), alive.end(),
                   [](auto *a, auto *b) { return a->size() > b->size(); });
  ordered_json buffers = ordered_json::array();
  for (const artifact::Buffer *b : alive)
    buffers.push_back(
        {{"label", text(b->label())}, {"bytes", b->size()}, {"at", place(b->location())}});
  return {{"entry", text(entry.name())},
          {"scratch", end - device.persistent()},
          {"largest_live", largest},
          {"peak_action", peak},
          {"peak", buffers}};
}

/// Of a step.
uint64_t Describer::inputBytes() const {
  uint64_t bytes = 0;
  for (const artifact::Entry *entry : *program.entries())
    if (entry->name()->string_view() == "step")
      for (const artifact::Port *port : *entry->inputs()) {
        uint64_t size = 0;
        artifact::tensorSize(port->dtype(), *port->shape(), size);
        bytes += size;
      }
  return bytes;
}

ordered_json Describer::memory() const {
  ordered_json entries = ordered_json::array();
  for (const artifact::Entry *entry : *program.entries())
    entries.push_back(entryMemory(*entry));
  return {{"arena", device.arena()},
          {"persistent", device.persistent()},
          {"thread_scratch", device.thread_scratch()},
          {"pinned", device.pinned()},
          {"host", device.host()},
          {"batches", prefetchDepth * inputBytes()},
          {"entries", entries}};
}

/// Equal calls are one line of the report.
void Describer::add(ordered_json call, const Locations *at, uint64_t times) {
  for (ordered_json &known : calls)
    if (std::all_of(call.items().begin(), call.items().end(),
                    [&](const auto &item) { return known[item.key()] == item.value(); })) {
      known["times"] = known["times"].get<uint64_t>() + times;
      for (const std::string &line : placesOf(program, linesOf(at)))
        if (std::find(known["at"].begin(), known["at"].end(), line) == known["at"].end())
          known["at"].push_back(line);
      return;
    }
  call["times"] = times;
  call["at"] = placesOf(program, linesOf(at));
  calls.push_back(std::move(call));
}

void Describer::walk(const std::string &entry, const Actions &actions, uint64_t times) {
  for (const artifact::Action *action : actions) {
    if (const artifact::Launch *launch = action->work_as_Launch()) {
      launches[launch->kernel()][entry] += times;
      kernelLines[launch->kernel()].merge(linesOf(action->locations()));
    } else if (const artifact::Call *call = action->work_as_Call()) {
      spec::Call spec = artifact::specOf(*call);
      spec::Cost cost = spec::costOf(spec);
      add({{"entry", entry},
           {"kind", spec::kindOf(spec)},
           {"what", spec::describe(spec)},
           {"fields", fieldsOf(spec)},
           {"flops", cost.flops},
           {"bytes", cost.bytes}},
          action->locations(), times);
    } else if (const artifact::Loop *loop = action->work_as_Loop()) {
      walk(entry, *loop->body(), times * loop->count());
    }
  }
}

uint64_t cost(const ordered_json &call) {
  return std::max(call["flops"].get<uint64_t>(),
                  machines::flopsPerByteOfCore * call["bytes"].get<uint64_t>());
}

/// How often a step has the kernel or call.
uint64_t timesInStep(const ordered_json &call) {
  if (call.contains("launches"))
    return call["launches"].value("step", uint64_t(0));
  return call["entry"] == "step" ? call["times"].get<uint64_t>() : 0;
}

void addShares(std::initializer_list<ordered_json *> lists) {
  double total = 0;
  for (const ordered_json *list : lists)
    for (const ordered_json &call : *list)
      total += double(timesInStep(call)) * cost(call);
  for (ordered_json *list : lists)
    for (ordered_json &call : *list) {
      double part = double(timesInStep(call)) * cost(call);
      call["share"] = part > 0 ? part / total : 0;
    }
}

/// Adds the calls of the step entry to `totals` and returns how many there are.
uint64_t sum(const ordered_json &calls, ordered_json &totals) {
  uint64_t count = 0;
  for (const ordered_json &call : calls) {
    if (call["entry"] != "step")
      continue;
    uint64_t times = call["times"];
    count += times;
    for (const char *what : {"flops", "bytes"})
      totals[what] = totals[what].get<uint64_t>() + times * call[what].get<uint64_t>();
  }
  return count;
}

static bool isForGpu(const artifact::Program &program) {
  return program.blobs() && program.blobs()->size() &&
         program.blobs()->Get(0)->format() == artifact::BlobFormat::cuda;
}

/// A GPU kernel's name in the source, and the assembler's facts.
struct KernelCode {
  std::string function;
  std::optional<cuda::KernelFacts> facts; ///< none where it is compiled when loaded
};

/// By the kernels' symbols; empty for a program for processors.
static std::map<std::string, KernelCode> codeOfKernels(const artifact::Program &program) {
  std::map<std::string, KernelCode> all;
  const artifact::CudaCode *code = isForGpu(program) ? cuda::codeOf(program) : nullptr;
  if (!code)
    return all;
  for (const artifact::CudaUnit *unit : *code->units()) {
    std::vector<cuda::KernelFacts> facts;
    if (const auto *cubin = unit->cubin())
      facts = cuda::kernelsOf(std::as_bytes(std::span(cubin->data(), cubin->size())));
    for (unsigned i = 0; i < unit->functions()->size(); ++i) {
      KernelCode &kernel = all[cuda::symbolOf(*unit, i)];
      kernel.function = unit->functions()->Get(i)->str();
      auto found = std::ranges::find(facts, kernel.function, &cuda::KernelFacts::name);
      if (found != facts.end())
        kernel.facts = *found;
    }
  }
  return all;
}

ordered_json Describer::describe() {
  launches.resize(program.kernels()->size());
  kernelLines.resize(program.kernels()->size());
  for (const artifact::Entry *entry : *program.entries())
    walk(text(entry->name()), *entry->actions(), 1);

  ordered_json configs = ordered_json::object();
  if (program.configs())
    for (const artifact::Config *config : *program.configs())
      configs[text(config->name())] = text(config->value());

  ordered_json totals = {
      {"launches", 0}, {"calls", 0}, {"flops", 0}, {"recomputed_flops", 0}, {"bytes", 0}};
  ordered_json kernels = ordered_json::array();
  std::map<std::string, KernelCode> codes = codeOfKernels(program);
  for (unsigned i = 0; i < program.kernels()->size(); ++i) {
    const artifact::Kernel &kernel = *program.kernels()->Get(i);
    ordered_json ops = ordered_json::array();
    if (kernel.ops())
      for (const flatbuffers::String *op : *kernel.ops())
        ops.push_back(op->str());
    auto inStep = launches[i].find("step");
    uint64_t times = inStep == launches[i].end() ? 0 : inStep->second;
    totals["launches"] = totals["launches"].get<uint64_t>() + times;
    auto addUp = [&](const char *what, uint64_t amount) {
      totals[what] = totals[what].get<uint64_t>() + times * amount;
    };
    addUp("flops", kernel.flops());
    addUp("recomputed_flops", kernel.recomputed_flops());
    addUp("bytes", kernel.bytes());
    ordered_json described = {{"symbol", text(kernel.symbol())},
                              {"shape", text(kernel.shape())},
                              {"tasks", kernel.tasks()},
                              {"ops", ops},
                              {"at", placesOf(program, kernelLines[i])},
                              {"launches", launches[i]},
                              {"flops", kernel.flops()},
                              {"recomputed_flops", kernel.recomputed_flops()},
                              {"bytes", kernel.bytes()}};
    if (isForGpu(program)) {
      described["threads"] = kernel.threads();
      described["shared"] = kernel.shared();
      const KernelCode &code = codes.at(text(kernel.symbol()));
      described["function"] = code.function;
      if (code.facts) {
        described["registers"] = code.facts->registers;
        described["frame"] = code.facts->frame;
      }
    }
    kernels.push_back(std::move(described));
  }
  totals["calls"] = sum(calls, totals);
  addShares({&kernels, &calls});

  return {{"model", text(program.model())},
          {"target", text(device.target())},
          {"precision", nameOf(artifact::precisionOf(program))},
          {"master", nameOf(artifact::elementOf(program.master()))},
          {"loss_scale", program.loss_scale() ? text(program.loss_scale()) : nameOf(LossScale())},
          {"mesh", program.mesh() ? text(program.mesh()) : ""},
          {"hosts", program.hosts() ? text(program.hosts()) : ""},
          {"meshes", meshes()},
          {"batch", program.batch()},
          {"accumulate", program.accumulate()},
          {"steps", program.steps()},
          {"epochs", program.epochs()},
          {"configs", configs},
          {"strategy", strategy()},
          {"variables", variables()},
          {"memory", memory()},
          {"kernels", kernels},
          {"calls", calls},
          {"step", totals},
          {"flops", describeFlops(program)}};
}

} // namespace

ordered_json fieldsOf(const spec::Call &call) {
  ordered_json fields = ordered_json::object();
  spec::forEachField(call, [&](const char *name, const auto &value, const auto &...names) {
    if constexpr (sizeof...(names) == 0)
      fields[name] = value;
    else
      ((fields[name] = names[static_cast<size_t>(value)]), ...);
  });
  return fields;
}

ordered_json describe(const artifact::Program &program) { return Describer(program).describe(); }

} // namespace weir
