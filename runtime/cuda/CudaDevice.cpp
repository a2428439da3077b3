//===- CudaDevice.cpp - A GPU as a device -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDevice.h"
#include "artifact/Actions.h"
#include "runtime/cuda/Code.h"
#include "runtime/cuda/Collectives.h"
#include "runtime/cuda/Works.h"
#include "support/Error.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

namespace weir::cuda {
namespace {

/// More nodes are no graph any more that is quickly made and launched.
constexpr uint64_t mostNodes = 20'000;

/// Actions of an entry, every round of its loops counted.
uint64_t nodesOf(const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions) {
  uint64_t count = 0;
  for (const artifact::Action *action : actions) {
    const artifact::Loop *loop = action->work_as_Loop();
    count += loop ? loop->count() * (1 + nodesOf(*loop->body())) : 1;
  }
  return count;
}

/// What of a run is the host's: pinned memory, and when the run was done.
struct Slot {
  Slot(const Session &session, uint64_t bytes) : done(session, /*timed=*/false) {
    if (bytes)
      memory = std::make_unique<PinnedMemory>(session, bytes);
  }
  std::byte *data() const { return memory ? memory->data : nullptr; }

  std::unique_ptr<PinnedMemory> memory; ///< null: of no bytes
  Event done;
  Ticket ticket = 0;               ///< of its last run
  std::vector<CUgraphExec> graphs; ///< as the program's entries; null: not captured yet
};

class CudaDevice : public Device, public Workshop {
public:
  /// With the libraries of a folder (Libraries.h), which are a GPU's or stand-ins.
  CudaDevice(const artifact::Program &program, const DeviceOptions &options,
             const std::string &folder, bool isGpu);
  ~CudaDevice() override;

  DeviceFacts facts() const override {
    // Who looks at each action waits for it.
    const artifact::Device &device = artifact::deviceOf(program);
    return {.name = session.name,
            .ahead = observer || traced ? 0 : int(slots.size()) - 1,
            .hostMemory = device.host() + slots.size() * device.pinned()};
  }
  Ticket write(Address to, std::span<const std::byte> from) override;
  Ticket read(Address from, std::span<std::byte> to) override;
  Ticket run(uint32_t entry) override;
  void wait(Ticket ticket) override;
  void trace(Trace *to) override { traced = to; }
  void observe(Observer *by) override { observer = by; }

private:
  std::unique_ptr<Work> make(const artifact::Action &action) override;
  void setRound(uint32_t queue, Address at, int32_t round) override;
  void poison(uint32_t queue, Address from, uint64_t bytes) override;
  int64_t mark(uint32_t queue) override;
  void record(Trace &trace, const ActionPlace &place, int64_t begin, int64_t end) override;

  CUstream stream() const { return queues.front()->handle; }
  const Product &productOf(const spec::Product &spec, const artifact::Action &action);
  CUdeviceptr workspaceOf(uint32_t queue);
  CUgraphExec capture(uint32_t entry);
  void walk(uint32_t entry);
  void runByHand(uint32_t entry, Slot &slot);
  void tellTimes();
  template <class Query> void await(Query query);
  void synchronize();

  const artifact::Program &program;
  const artifact::Entry *making = nullptr; ///< whose actions are being made ready
  const std::string folder;
  Session session;
  DeviceMemory arena;
  std::optional<PinnedMemory> host; ///< what there is no room for in the arena
  std::vector<std::unique_ptr<Stream>> queues;
  Machine machine;
  std::optional<Code> code;
  std::map<uint32_t, DeviceMemory> workspaces; ///< of the library's calls on a queue
  std::optional<Library> library;
  std::map<std::pair<spec::Product, uint32_t>, std::unique_ptr<Product>> products;
  std::optional<Collectives> collectives;   ///< of a rank
  std::vector<std::unique_ptr<Walk>> walks; ///< as the program's entries
  /// The host writes and reads one while the other's run goes on.
  std::vector<Slot> slots;
  std::vector<bool> ran;    ///< the entries that were
  std::vector<bool> graphs; ///< the entries that are graphs from their second run on
  size_t next = 0;          ///< the slot of the next run
  size_t hand = 0;          ///< of the last that was waited for
  bool looks = false;       ///< the observer does, at the run that is asked for
  Trace *traced = nullptr;
  Observer *observer = nullptr;
  Ticket asked = 0, done = 0;
  bool isAmiss = false; ///< a run is not done, and may never be

  // Of a run that is traced:
  struct Timed {
    ActionPlace place;
    size_t begin, end; ///< into marks
  };
  std::vector<Event> marks;
  size_t marked = 0;
  std::vector<Timed> timed;
};

CudaDevice::CudaDevice(const artifact::Program &program, const DeviceOptions &options,
                       const std::string &folder, bool isGpu)
    : program(program), folder(folder), session(folder, options.number, options.group != nullptr),
      arena(session, artifact::deviceOf(program).arena(), "the model's tensors"),
      machine{.session = session,
              .queues = queues,
              .arena = arena.at,
              .arenaEnd = artifact::deviceOf(program).arena(),
              .hostBegin =
                  artifact::deviceOf(program).arena() + artifact::deviceOf(program).pinned()} {
  const artifact::Device &device = artifact::deviceOf(program);
  if (!options.offloadFolder.empty())
    throw Failure(Exit::usage, "--offload-dir: a GPU copies from and to memory, not to a file");
  if (device.host()) {
    host.emplace(session, device.host());
    machine.host = host->data;
    std::fill_n(machine.host, device.host(), std::byte(0));
  }
  while (queues.size() < device.queues())
    queues.push_back(std::make_unique<Stream>(session));
  const char *blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  machine.waits = blocking && std::string_view(blocking) == "1";
  if (uint64_t persistent = device.persistent())
    session.check(session.driver.cuMemsetD8Async(arena.at, 0, persistent, stream()),
                  "clearing the model's tensors");
  if (options.transport)
    collectives.emplace(session, folder, program, options);
  {
    // What one rank of the process compiles the others find.
    static std::mutex loading;
    std::lock_guard lock(loading);
    code.emplace(session, folder, isGpu, program);
  }
  for (uint32_t i = 0; i < program.entries()->size(); ++i) {
    making = program.entries()->Get(i);
    while (machine.events.size() < making->events())
      machine.events.emplace_back(session, /*timed=*/false);
    walks.push_back(std::make_unique<Walk>(program, i, *this, options.poison));
    graphs.push_back(options.graph && nodesOf(*making->actions()) <= mostNodes);
  }
  machine.recorded.resize(machine.events.size());
  ran.resize(walks.size());
  size_t count = device.pinned() ? 2 : 1;
  slots.reserve(count);
  while (slots.size() < count) {
    slots.emplace_back(session, device.pinned());
    slots.back().graphs.resize(walks.size());
  }
}

CudaDevice::~CudaDevice() {
  session.driver.cuCtxSetCurrent(session.context);
  if (collectives && isAmiss)
    collectives->abort();
  for (const auto &queue : queues)
    session.driver.cuStreamSynchronize(queue->handle);
  for (Slot &slot : slots)
    for (CUgraphExec graph : slot.graphs)
      if (graph)
        session.driver.cuGraphExecDestroy(graph);
  try {
    if (collectives)
      collectives->close();
  } catch (const Failure &) { // another rank has ended otherwise, and says why
  }
}

const Product &CudaDevice::productOf(const spec::Product &spec, const artifact::Action &action) {
  if (!library)
    library.emplace(openCublasLt(folder, session.driverVersion));
  // All of its tensors lie at multiples of the lowest bit of all their places; the library reads a
  // scale as the one number that it is.
  uint64_t bits = 256;
  for (size_t i = 0; i < spec.scalesAt(); ++i)
    bits |= artifact::addressOf(program, *making, *action.operands()->Get(unsigned(i)));
  if (action.moves())
    for (const artifact::Move *move : *action.moves())
      if (move->operand() < spec.scalesAt())
        bits |= uint64_t(move->bytes());
  uint32_t alignment = uint32_t(bits & -bits);
  std::unique_ptr<Product> &product = products[{spec, alignment}];
  if (!product)
    product = std::make_unique<Product>(*library, spec, alignment, machine.arena);
  return *product;
}

CUdeviceptr CudaDevice::workspaceOf(uint32_t queue) {
  return workspaces.try_emplace(queue, session, Library::workspaceBytes, "cuBLASLt's workspace")
      .first->second.at;
}

std::unique_ptr<Work> CudaDevice::make(const artifact::Action &action) {
  uint32_t queue = action.queue();
  std::string what = artifact::describeAt(program, action);
  if (const artifact::Launch *launch = action.work_as_Launch())
    return std::make_unique<LaunchWork>(machine, queue, what, code->functions[launch->kernel()],
                                        *program.kernels()->Get(launch->kernel()));
  if (const artifact::Copy *copy = action.work_as_Copy())
    return std::make_unique<CopyWork>(machine, queue, what, copy->size());
  if (const artifact::Record *record = action.work_as_Record())
    return std::make_unique<RecordWork>(machine, queue, what, record->event());
  if (const artifact::Wait *wait = action.work_as_Wait())
    return std::make_unique<WaitWork>(machine, queue, what, wait->event());
  if (const artifact::Collective *collective = action.work_as_Collective())
    return collectives->make(machine, queue, what, *collective);
  if (!action.work_as_Call())
    throw Failure(Exit::usage, "a " + what + " is not for GPUs yet: compile the model for CPUs");
  spec::Call call = artifact::specOf(*action.work_as_Call());
  if (const auto *product = std::get_if<spec::Product>(&call))
    return std::make_unique<ProductWork>(machine, queue, what, *product,
                                         productOf(*product, action), workspaceOf(queue));
  throw Failure(Exit::model, "no library serves a " + what + " on GPUs: compile the model again");
}

void CudaDevice::setRound(uint32_t queue, Address at, int32_t round) {
  CUstream on = queues[queue]->handle;
  session.check(session.driver.cuMemsetD32Async(arena.at + at, unsigned(round), 1, on),
                "counting a loop's rounds");
}

void CudaDevice::poison(uint32_t queue, Address from, uint64_t bytes) {
  CUstream on = queues[queue]->handle;
  session.check(session.driver.cuMemsetD8Async(arena.at + from, 0xff, bytes, on), "poisoning");
}

Ticket CudaDevice::write(Address to, std::span<const std::byte> from) {
  session.enter();
  if (to >= machine.hostBegin) {
    synchronize();
    std::copy(from.begin(), from.end(), machine.onHost(to));
    return 0;
  }
  if (to >= machine.arenaEnd) {
    // Its last run may still read what is there.
    wait(slots[next].ticket);
    std::copy(from.begin(), from.end(), slots[next].data() + (to - machine.arenaEnd));
    return 0;
  }
  session.check(
      session.driver.cuMemcpyHtoDAsync_v2(arena.at + to, from.data(), from.size(), stream()),
      "copying to the GPU");
  return ++asked;
}

Ticket CudaDevice::read(Address from, std::span<std::byte> to) {
  session.enter();
  if (looks || from + to.size() > machine.hostBegin)
    synchronize(); // other queues are at work
  auto upTo = [&](Address end) { return from < end ? std::min<size_t>(to.size(), end - from) : 0; };
  size_t ofArena = upTo(machine.arenaEnd), ofPinned = upTo(machine.hostBegin);
  if (ofArena < ofPinned) {
    const std::byte *pinned =
        (looks ? machine.pinned : slots[hand].data()) + (from + ofArena - machine.arenaEnd);
    std::copy_n(pinned, ofPinned - ofArena, to.begin() + ofArena);
  }
  if (ofPinned < to.size())
    std::copy_n(machine.onHost(from + ofPinned), to.size() - ofPinned, to.begin() + ofPinned);
  if (!ofArena)
    return 0;
  session.check(session.driver.cuMemcpyDtoHAsync_v2(to.data(), arena.at + from, ofArena, stream()),
                "copying from the GPU");
  return ++asked;
}

void CudaDevice::walk(uint32_t entry) {
  std::fill(machine.recorded.begin(), machine.recorded.end(), false);
  walks[entry]->run(traced, observer);
}

/// With the pinned memory that the machine has now.
CUgraphExec CudaDevice::capture(uint32_t entry) {
  constexpr int threadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  const Driver &driver = session.driver;
  std::string name = "the entry '" + program.entries()->Get(entry)->name()->str() + "'";
  session.check(driver.cuStreamBeginCapture_v2(stream(), threadLocal), "capturing " + name);
  CUgraph graph = nullptr;
  try {
    walk(entry);
  } catch (...) {
    if (driver.cuStreamEndCapture(stream(), &graph) == CUDA_SUCCESS && graph)
      driver.cuGraphDestroy(graph);
    throw;
  }
  session.check(driver.cuStreamEndCapture(stream(), &graph), "capturing " + name);
  CUgraphExec executable = nullptr;
  CUresult result = driver.cuGraphInstantiateWithFlags(&executable, graph, 0);
  driver.cuGraphDestroy(graph);
  session.check(result, "preparing " + name);
  return executable;
}

int64_t CudaDevice::mark(uint32_t queue) {
  if (marked == marks.size())
    marks.emplace_back(session, /*timed=*/true);
  session.check(session.driver.cuEventRecord(marks[marked].handle, queues[queue]->handle),
                "timing");
  return int64_t(marked++);
}

void CudaDevice::record(Trace &, const ActionPlace &place, int64_t begin, int64_t end) {
  timed.push_back({place, size_t(begin), size_t(end)});
}

/// What was timed and is done, by the host's clock: the last of it ended now.
void CudaDevice::tellTimes() {
  auto nanoseconds = [&](size_t mark) {
    float milliseconds = 0;
    session.check(
        session.driver.cuEventElapsedTime(&milliseconds, marks.front().handle, marks[mark].handle),
        "timing");
    return int64_t(double(milliseconds) * 1e6);
  };
  int64_t last = 0;
  for (const Timed &one : timed)
    last = std::max(last, nanoseconds(one.end));
  int64_t start = Trace::now() - last;
  for (const Timed &one : timed)
    traced->record({one.place.entry, one.place.action, one.place.round,
                    start + nanoseconds(one.begin), start + nanoseconds(one.end)});
  timed.clear();
}

/// Action by action, to the end.
void CudaDevice::runByHand(uint32_t entry, Slot &slot) {
  marked = 0;
  timed.clear();
  if (traced)
    mark(0);
  {
    looks = observer;
    std::unique_ptr<bool, void (*)(bool *)> end(&looks, [](bool *flag) { *flag = false; });
    walk(entry);
  }
  if (!traced)
    return;
  synchronize();
  tellTimes();
}

Ticket CudaDevice::run(uint32_t entry) {
  session.enter();
  Slot &slot = slots[next];
  wait(slot.ticket);
  if (collectives && isAmiss)
    throw Failure(Exit::peer, "the ranks have lost each other before");
  isAmiss = true;
  next = (next + 1) % slots.size();
  machine.pinned = slot.data();
  const artifact::Entry &asks = *program.entries()->Get(entry);
  // The first run loads what libraries load when they are called, which a capture forbids.
  bool isFirst = !ran[entry];
  if (isFirst || !graphs[entry] || observer || traced || machine.waits) {
    runByHand(entry, slot);
    ran[entry] = true;
  } else {
    CUgraphExec &graph = slot.graphs[entry];
    if (!graph)
      graph = capture(entry);
    session.check(session.driver.cuGraphLaunch(graph, stream()),
                  "running the entry '" + asks.name()->str() + "'");
  }
  session.check(session.driver.cuEventRecord(slot.done.handle, stream()), "running an entry");
  return slot.ticket = ++asked;
}

/// Until what is asked for is done; of a rank, as long as the others go on.
template <class Query> void CudaDevice::await(Query query) {
  constexpr int usually = 100; // a step that is about to end needs no sleep
  for (int turn = 0;; ++turn) {
    CUresult result = query();
    if (result != CUDA_ERROR_NOT_READY)
      return session.check(result, "waiting for the GPU");
    collectives->check();
    if (turn >= usually)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void CudaDevice::synchronize() {
  for (const auto &queue : queues)
    if (collectives)
      await([&] { return session.driver.cuStreamQuery(queue->handle); });
    else
      session.check(session.driver.cuStreamSynchronize(queue->handle), "waiting for the GPU");
}

void CudaDevice::wait(Ticket ticket) {
  if (ticket <= done)
    return;
  session.enter();
  auto run = std::find_if(slots.begin(), slots.end(),
                          [&](const Slot &slot) { return slot.ticket == ticket; });
  if (run != slots.end()) {
    if (collectives)
      await([&] { return session.driver.cuEventQuery(run->done.handle); });
    else
      session.check(session.driver.cuEventSynchronize(run->done.handle), "waiting for the GPU");
    done = ticket;
  } else {
    Ticket upTo = asked;
    synchronize();
    done = upTo;
  }
  isAmiss = isAmiss && std::ranges::any_of(slots, [&](const Slot &s) { return s.ticket > done; });
  // The newest of the runs that are done.
  Ticket newest = 0;
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].ticket <= done && slots[i].ticket >= newest) {
      newest = slots[i].ticket;
      hand = i;
    }
}

} // namespace

std::string emulatedFolder() {
  std::error_code none;
  std::filesystem::path folder;
  if (const char *named = std::getenv("WEIR_EMULATED_CUDA"); named && *named)
    folder = named;
  else
    folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path().parent_path() /
             "lib" / "emulated-cuda";
  if (!std::filesystem::exists(folder / "libcuda.so.1", none))
    throw Failure(Exit::device, "the libraries of the emulated GPU are not there (looked in " +
                                    folder.string() +
                                    "); build them with: tools/dev/build release emulated-cuda, or "
                                    "name their folder in WEIR_EMULATED_CUDA");
  return folder;
}

bool serves(std::string_view target) { return target == "cuda" || target.starts_with("cuda:"); }

std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options) {
  return std::make_unique<CudaDevice>(program, options, "", true);
}

std::unique_ptr<Device> makeEmulated(const artifact::Program &program,
                                     const DeviceOptions &options) {
  return std::make_unique<CudaDevice>(program, options, emulatedFolder(), false);
}

void checkCode(const artifact::Program &program) { codeOf(program); }

} // namespace weir::cuda
