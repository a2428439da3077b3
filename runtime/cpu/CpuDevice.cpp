//===- CpuDevice.cpp - The processor as a device --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CpuDevice.h"
#include "artifact/Actions.h"
#include "artifact/Sharding.h"
#include "runtime/base/MachineMemory.h"
#include "runtime/core/HostDevice.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/Convolution.h"
#include "runtime/cpu/Isa.h"
#include "runtime/cpu/Loader.h"
#include "runtime/cpu/Pooling.h"
#include "runtime/cpu/Product.h"
#include "runtime/cpu/Works.h"
#include "support/Error.h"
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <deque>
#include <map>
#include <optional>

namespace weir::cpu {
namespace {

/// The functions of the plan's kernels, in order; `code` maps them. Nothing where there are none.
std::vector<KernelFunction> loadKernels(const artifact::Program &program,
                                        std::optional<Loader> &code) {
  std::vector<KernelFunction> functions;
  if (program.kernels()->size() == 0)
    return functions;
  const auto &bytes = *program.blobs()->Get(0)->bytes();
  code.emplace(std::as_bytes(std::span(bytes.data(), bytes.size())));
  for (const artifact::Kernel *kernel : *program.kernels()) {
    void *function = code->symbol(kernel->symbol()->string_view());
    if (!function)
      throw Failure(Exit::model, "the artifact's machine code has no kernel '" +
                                     kernel->symbol()->str() + "': compile the model again");
    functions.push_back(reinterpret_cast<KernelFunction>(function));
  }
  return functions;
}

/// Equal calls, as those of repeated layers, are made once.
template <class Spec, class Made> using Calls = std::map<Spec, std::unique_ptr<Made>>;

class CpuDevice : public HostDevice {
public:
  CpuDevice(const artifact::Program &program, const DeviceOptions &options);
  /// A run that failed may have left engines at work.
  ~CpuDevice() override { drain(); }

  DeviceFacts facts() const override {
    int threads = pool->size();
    return {.name = std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
            .threadScratch = machine.scratchStride,
            .hostMemory = arena->size() + scratch->size() + hostInMemory};
  }

  Ticket run(uint32_t entry) override;
  void observe(Observer *by) override {
    machine.isWatched = by != nullptr;
    HostDevice::observe(by);
  }
  void poison(uint32_t queue, Address from, uint64_t bytes) override {
    // An artifact may call dead what a transfer still reads.
    for (const auto &engine : machine.engines)
      if (engine)
        engine->wait(engine->now());
    HostDevice::poison(queue, from, bytes);
  }

  int64_t mark(uint32_t queue) override;
  void record(Trace &trace, const ActionPlace &place, int64_t begin, int64_t end) override;

private:
  std::unique_ptr<Work> make(const artifact::Action &action) override;
  std::unique_ptr<Work> makeInline(const artifact::Action &action);
  void makeStore(const DeviceOptions &options);
  void startEngines();
  void recordEngines();
  void drain() {
    for (const auto &engine : machine.engines)
      if (engine)
        engine->drain();
  }
  template <class Spec, class Made>
  std::unique_ptr<Work> make(Calls<Spec, Made> &known, const Spec &spec);
  std::unique_ptr<Work> make(const spec::Product &spec) { return make(products, spec); }
  std::unique_ptr<Work> make(const spec::Convolution &spec) { return make(convolutions, spec); }
  std::unique_ptr<Work> make(const spec::Pooling &spec) { return make(pools, spec); }
  void allocateScratch();

  const artifact::Program &program;
  Transport *const transport;
  const int64_t rank; ///< that it is
  std::optional<Loader> code;
  std::optional<Arena> arena, scratch;
  std::unique_ptr<HostStore> host;
  uint64_t hostInMemory = 0; ///< bytes of it
  std::unique_ptr<ThreadPool> pool;
  std::vector<KernelFunction> kernels;
  Calls<spec::Product, Product> products;
  Calls<spec::Convolution, Convolution> convolutions;
  Calls<spec::Pooling, Pooling> pools;
  size_t callScratch = 0; ///< the most that one of them wants
  Machine machine;
  bool poisons;

  /// What runs on engines, of the run that is traced: the marks of their queues are numbers of
  /// stamps, below zero.
  struct Traced {
    ActionPlace place;
    size_t begin, end;
  };
  std::deque<std::atomic<int64_t>> stamps;
  size_t stamped = 0;
  std::vector<Traced> onEngines;
  Trace *traceOfEngines = nullptr;
};

CpuDevice::CpuDevice(const artifact::Program &program, const DeviceOptions &options)
    : program(program), transport(options.transport), rank(options.rank), poisons(options.poison) {
  assert(!program.mesh() || transport);
  const artifact::Device &device = artifact::deviceOf(program);
  requireLevel(device.target()->string_view());
  boundLibrary(device.target()->string_view());
  kernels = loadKernels(program, code);
  arena.emplace(device.arena() + device.pinned(), "the model's tensors");
  pool = std::make_unique<ThreadPool>(options.threads);
  machine.arena = arena->data();
  machine.pool = pool.get();
  machine.group = options.group;
  makeStore(options);
  startEngines();
  prepare(program, arena->data(), host.get(), poisons);
  allocateScratch();
}

void CpuDevice::makeStore(const DeviceOptions &options) {
  const artifact::Device &device = artifact::deviceOf(program);
  uint64_t all = arena->size() + device.host(), there = machineMemory();
  if (device.host() && options.offloadFolder.empty() && there && all > there)
    throw Failure(Exit::device,
                  "not enough memory for the model's tensors and what lies with the host: " +
                      std::to_string(all) + " bytes are needed, there are " +
                      std::to_string(there) + "; --offload-dir DIR puts the latter into a file");
  host = makeHostStore(device.host(), options.offloadFolder);
  hostInMemory = options.offloadFolder.empty() ? device.host() : 0;
  machine.host = host.get();
  machine.hostBegin = arena->size();
}

/// Counts the actions of an entry by queue, rounds and all, and says whether there are collectives
/// beside queue 0.
static bool countJobs(const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions,
                      uint64_t rounds, std::vector<uint64_t> &jobs) {
  constexpr uint64_t mostRounds = 1 << 16; // which one of them has
  bool any = false;
  for (const artifact::Action *action : actions) {
    jobs[action->queue()] += rounds;
    any |= action->queue() > 0 && action->work_as_Collective();
    if (const artifact::Loop *loop = action->work_as_Loop())
      any |= countJobs(*loop->body(), std::min(rounds * loop->count(), mostRounds), jobs);
  }
  return any;
}

/// What lies with the host comes and goes beside the actions, and what other ranks have.
void CpuDevice::startEngines() {
  constexpr uint64_t fewest = 256, most = 1 << 16, jobsOfAction = 3; // itself between two stamps
  std::vector<uint64_t> jobs(artifact::deviceOf(program).queues());
  bool beside = host != nullptr;
  uint32_t events = 0;
  for (const artifact::Entry *entry : *program.entries()) {
    std::vector<uint64_t> ofEntry(jobs.size());
    beside |= countJobs(*entry->actions(), 1, ofEntry);
    for (size_t queue = 0; queue < jobs.size(); ++queue)
      jobs[queue] = std::max(jobs[queue], ofEntry[queue]);
    events = std::max(events, entry->events());
  }
  if (!beside)
    return;
  for (size_t queue = 1; queue < jobs.size(); ++queue)
    machine.engines.push_back(
        jobs[queue] ? std::make_unique<Engine>(std::clamp(jobsOfAction * jobs[queue], fewest, most))
                    : nullptr);
  machine.events.resize(events);
}

void CpuDevice::allocateScratch() {
  size_t stated = artifact::deviceOf(program).thread_scratch();
  if (callScratch > stated)
    throw Failure(Exit::model, "this machine's oneDNN wants " + std::to_string(callScratch) +
                                   " bytes of scratch per thread, the artifact states " +
                                   std::to_string(stated) +
                                   ": use the version of oneDNN that Weir was built for");
  machine.scratchStride = (stated + pageSize - 1) / pageSize * pageSize;
  scratch.emplace(machine.scratchStride * pool->size(), "the threads' scratch");
  machine.scratch = scratch->data();
}

template <class Spec, class Made>
std::unique_ptr<Work> CpuDevice::make(Calls<Spec, Made> &known, const Spec &spec) {
  compileLibrary();
  auto &made = known[spec];
  if (!made)
    made = std::make_unique<Made>(spec, pool->size());
  callScratch = std::max(callScratch, made->scratch());
  return std::make_unique<CallWork<Made>>(machine, *made);
}

std::unique_ptr<Work> CpuDevice::make(const artifact::Action &action) {
  if (!machine.engines.empty()) {
    if (const artifact::Record *record = action.work_as_Record())
      return std::make_unique<RecordWork>(machine, action.queue(), record->event());
    if (const artifact::Wait *wait = action.work_as_Wait())
      return std::make_unique<WaitWork>(machine, action.queue(), wait->event());
  }
  if (const artifact::Copy *copy = action.work_as_Copy(); copy && host)
    return std::make_unique<TransferWork>(machine, action.queue(), copy->size());
  std::unique_ptr<Work> work = makeInline(action);
  Engine *engine = machine.engineOf(action.queue());
  if (work && engine && action.work_as_Collective())
    return std::make_unique<EngineWork>(*engine, std::move(work));
  if (work && engine)
    return std::make_unique<DrainedWork>(*engine, std::move(work));
  return work;
}

std::unique_ptr<Work> CpuDevice::makeInline(const artifact::Action &action) {
  if (const artifact::Launch *launch = action.work_as_Launch())
    return std::make_unique<LaunchWork>(machine, kernels[launch->kernel()],
                                        *program.kernels()->Get(launch->kernel()));
  if (const artifact::Call *call = action.work_as_Call())
    return std::visit([&](const auto &spec) { return make(spec); }, artifact::specOf(*call));
  if (const artifact::Copy *copy = action.work_as_Copy())
    return std::make_unique<CopyWork>(machine, copy->size());
  if (const artifact::Collective *collective = action.work_as_Collective()) {
    Mesh mesh = artifact::meshOf(program);
    auto axis = unsigned(mesh.find(collective->axis()->string_view()));
    return std::make_unique<CollectiveWork>(machine, *transport, axis, mesh.coordinate(rank, axis),
                                            artifact::describeAt(program, action),
                                            artifact::exchangeOf(*collective),
                                            machine.engineOf(action.queue()) != nullptr);
  }
  if (const artifact::Transfer *transfer = action.work_as_Transfer())
    return std::make_unique<MessageWork>(
        machine, *transport, artifact::meshOf(program).find(transfer->axis()->string_view()),
        artifact::describeAt(program, action), *transfer);
  return nullptr; // each action is done before the next begins
}

Ticket CpuDevice::run(uint32_t entry) {
  ComputeThread state;
  drain(); // what a run that failed has left
  std::fill(machine.events.begin(), machine.events.end(), Machine::Reached());
  if (poisons)
    for (int worker = 0; worker < pool->size() && machine.scratchStride; ++worker)
      std::memset(machine.workerScratch(worker), 0xff, machine.scratchStride);
  stamped = 0;
  onEngines.clear();
  try {
    HostDevice::run(entry);
  } catch (...) {
    recordEngines();
    throw;
  }
  if (!onEngines.empty())
    drain(); // the last stamps: queue 0 has waited for what they are of
  recordEngines();
  return 0;
}

/// Those that are done.
void CpuDevice::recordEngines() {
  for (const Traced &one : onEngines)
    if (int64_t end = stamps[one.end])
      traceOfEngines->record(
          {one.place.entry, one.place.action, one.place.round, stamps[one.begin], end});
}

int64_t CpuDevice::mark(uint32_t queue) {
  Engine *engine = machine.engineOf(queue);
  if (!engine)
    return HostDevice::mark(queue);
  if (stamped == stamps.size())
    stamps.emplace_back();
  stamps[stamped] = 0;
  engine->stamp(stamps[stamped]);
  return -1 - int64_t(stamped++);
}

void CpuDevice::record(Trace &trace, const ActionPlace &place, int64_t begin, int64_t end) {
  if (begin >= 0)
    return HostDevice::record(trace, place, begin, end);
  traceOfEngines = &trace;
  onEngines.push_back({place, size_t(-1 - begin), size_t(-1 - end)});
}

} // namespace

bool serves(std::string_view target) { return target.starts_with("x86-64"); }

std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options) {
  return std::make_unique<CpuDevice>(program, options);
}

void checkCode(const artifact::Program &program) {
  std::optional<Loader> code;
  loadKernels(program, code);
}

} // namespace weir::cpu
