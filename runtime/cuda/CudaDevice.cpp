//===- CudaDevice.cpp - A GPU as a device -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDevice.h"
#include "runtime/artifact/Actions.h"
#include "runtime/base/Error.h"
#include "runtime/core/Walk.h"
#include "runtime/cuda/Code.h"
#include "runtime/cuda/Product.h"
#include "runtime/cuda/Session.h"
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

namespace weir::cuda {
namespace {

/// What every action uses.
struct Queue {
  const Session &session;
  CUdeviceptr arena;
  CUstream stream;

  const Driver &driver() const { return session.driver; }
};

class LaunchWork : public Work {
public:
  LaunchWork(const Queue &queue, CUfunction function, const artifact::Kernel &kernel)
      : queue(queue), function(function), kernel(kernel), operands(kernel.operands()->size()) {
    for (CUdeviceptr &operand : operands)
      arguments.push_back(&operand);
    // Above this a kernel has to be told.
    constexpr uint32_t usualShared = 48 << 10;
    if (kernel.shared() > usualShared)
      queue.session.check(
          queue.driver().cuFuncSetAttribute(
              function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(kernel.shared())),
          "preparing " + kernel.symbol()->str());
  }

  void bind(std::span<const Address> places) override {
    for (size_t i = 0; i < places.size(); ++i)
      operands[i] = queue.arena + places[i];
  }

  void run() override {
    CUresult result =
        queue.driver().cuLaunchKernel(function, unsigned(kernel.tasks()), 1, 1, kernel.threads(), 1,
                                      1, kernel.shared(), queue.stream, arguments.data(), nullptr);
    if (result != CUDA_SUCCESS)
      queue.session.check(result, "launching " + kernel.symbol()->str());
  }

private:
  const Queue &queue;
  const CUfunction function;
  const artifact::Kernel &kernel;
  std::vector<CUdeviceptr> operands;
  std::vector<void *> arguments;
};

class ProductWork : public Work {
public:
  ProductWork(const Queue &queue, const Product &product) : queue(queue), product(product) {}

  void bind(std::span<const Address> places) override {
    operands = {queue.arena + places[0], queue.arena + places[1], queue.arena + places[2],
                places.size() > 3 ? queue.arena + places[3] : 0};
  }
  void run() override { product.run(operands, queue.stream); }

private:
  const Queue &queue;
  const Product &product;
  Product::Operands operands = {};
};

class CopyWork : public Work {
public:
  CopyWork(const Queue &queue, uint64_t size) : queue(queue), size(size) {}

  void bind(std::span<const Address> places) override {
    from = queue.arena + places[0];
    to = queue.arena + places[1];
    bool overlaps = from < to + size && to < from + size;
    if (overlaps && from != to && !between)
      between.emplace(queue.session, size, "a copy");
    isDirect = !overlaps;
  }
  void run() override {
    if (isDirect)
      return copy(to, from);
    if (from == to)
      return;
    copy(between->at, from);
    copy(to, between->at);
  }

private:
  void copy(CUdeviceptr target, CUdeviceptr source) {
    queue.session.check(queue.driver().cuMemcpyDtoDAsync_v2(target, source, size, queue.stream),
                        "copying");
  }

  const Queue &queue;
  const uint64_t size;
  CUdeviceptr from = 0, to = 0;
  bool isDirect = true;
  std::optional<DeviceMemory> between; ///< of ranges that overlap
};

class CudaDevice : public Device, public Workshop {
public:
  CudaDevice(const artifact::Program &program, const DeviceOptions &options,
             const std::string &folder);
  ~CudaDevice() override;

  DeviceFacts facts() const override { return {}; }
  Ticket write(Address to, std::span<const std::byte> from) override;
  Ticket read(Address from, std::span<std::byte> to) override;
  Ticket run(uint32_t entry) override;
  void wait(Ticket ticket) override;
  void trace(Trace *to) override { traced = to; }
  void observe(Observer *by) override { observer = by; }

private:
  std::unique_ptr<Work> make(const artifact::Action &action) override;
  void setRound(Address at, int32_t round) override;
  void poison(Address from, uint64_t bytes) override;
  void finish() override { synchronize(); }
  const Product &productOf(const spec::Product &spec);
  CUgraphExec capture(uint32_t entry);
  void synchronize();

  const artifact::Program &program;
  const std::string folder;
  Session session;
  DeviceMemory arena;
  Stream stream;
  Queue queue;
  std::optional<Code> code;
  std::optional<DeviceMemory> workspace;
  std::optional<Library> library;
  std::map<spec::Product, std::unique_ptr<Product>> products;
  std::vector<std::unique_ptr<Walk>> walks; ///< as the program's entries
  std::vector<CUgraphExec> graphs;          ///< null: not captured yet
  const bool usesGraphs;
  Trace *traced = nullptr;
  Observer *observer = nullptr;
  Ticket asked = 0, done = 0;
};

CudaDevice::CudaDevice(const artifact::Program &program, const DeviceOptions &options,
                       const std::string &folder)
    : program(program), folder(folder), session(folder),
      arena(session, artifact::deviceOf(program).arena(), "the model's tensors"), stream(session),
      queue{session, arena.at, stream.handle}, usesGraphs(options.graph) {
  if (uint64_t persistent = artifact::deviceOf(program).persistent())
    session.check(session.driver.cuMemsetD8Async(arena.at, 0, persistent, stream.handle),
                  "clearing the model's tensors");
  code.emplace(session.driver, folder, session.architecture, program);
  for (uint32_t i = 0; i < program.entries()->size(); ++i)
    walks.push_back(std::make_unique<Walk>(program, i, *this, options.poison));
  graphs.resize(walks.size());
}

CudaDevice::~CudaDevice() {
  session.driver.cuCtxSetCurrent(session.context);
  session.driver.cuStreamSynchronize(stream.handle);
  for (CUgraphExec graph : graphs)
    if (graph)
      session.driver.cuGraphExecDestroy(graph);
}

const Product &CudaDevice::productOf(const spec::Product &spec) {
  if (!library) {
    workspace.emplace(session, Library::workspaceBytes, "cuBLASLt's workspace");
    library.emplace(openCublasLt(folder), workspace->at);
  }
  std::unique_ptr<Product> &product = products[spec];
  if (!product)
    product = std::make_unique<Product>(*library, spec);
  return *product;
}

std::unique_ptr<Work> CudaDevice::make(const artifact::Action &action) {
  if (const artifact::Launch *launch = action.work_as_Launch())
    return std::make_unique<LaunchWork>(queue, code->functions[launch->kernel()],
                                        *program.kernels()->Get(launch->kernel()));
  if (const artifact::Copy *copy = action.work_as_Copy())
    return std::make_unique<CopyWork>(queue, copy->size());
  spec::Call call = artifact::specOf(*action.work_as_Call());
  if (const auto *product = std::get_if<spec::Product>(&call))
    return std::make_unique<ProductWork>(queue, productOf(*product));
  throw Failure(Exit::model, "no library serves a " + spec::describe(call) +
                                 " on GPUs: compile the model again");
}

void CudaDevice::setRound(Address at, int32_t round) {
  session.check(session.driver.cuMemsetD32Async(arena.at + at, unsigned(round), 1, stream.handle),
                "counting a loop's rounds");
}

void CudaDevice::poison(Address from, uint64_t bytes) {
  session.check(session.driver.cuMemsetD8Async(arena.at + from, 0xff, bytes, stream.handle),
                "poisoning");
}

Ticket CudaDevice::write(Address to, std::span<const std::byte> from) {
  session.enter();
  session.check(
      session.driver.cuMemcpyHtoDAsync_v2(arena.at + to, from.data(), from.size(), stream.handle),
      "copying to the GPU");
  return ++asked;
}

Ticket CudaDevice::read(Address from, std::span<std::byte> to) {
  session.enter();
  session.check(
      session.driver.cuMemcpyDtoHAsync_v2(to.data(), arena.at + from, to.size(), stream.handle),
      "copying from the GPU");
  return ++asked;
}

CUgraphExec CudaDevice::capture(uint32_t entry) {
  constexpr int threadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  const Driver &driver = session.driver;
  std::string name = "the entry '" + program.entries()->Get(entry)->name()->str() + "'";
  session.check(driver.cuStreamBeginCapture_v2(stream.handle, threadLocal), "capturing " + name);
  CUgraph graph = nullptr;
  try {
    walks[entry]->run(nullptr, nullptr);
  } catch (...) {
    if (driver.cuStreamEndCapture(stream.handle, &graph) == CUDA_SUCCESS && graph)
      driver.cuGraphDestroy(graph);
    throw;
  }
  session.check(driver.cuStreamEndCapture(stream.handle, &graph), "capturing " + name);
  CUgraphExec executable = nullptr;
  CUresult result = driver.cuGraphInstantiateWithFlags(&executable, graph, 0);
  driver.cuGraphDestroy(graph);
  session.check(result, "preparing " + name);
  return executable;
}

Ticket CudaDevice::run(uint32_t entry) {
  session.enter();
  if (!usesGraphs || observer || traced) {
    walks[entry]->run(traced, observer);
    return ++asked;
  }
  if (!graphs[entry])
    graphs[entry] = capture(entry);
  session.check(session.driver.cuGraphLaunch(graphs[entry], stream.handle),
                "running the entry '" + program.entries()->Get(entry)->name()->str() + "'");
  return ++asked;
}

void CudaDevice::synchronize() {
  session.check(session.driver.cuStreamSynchronize(stream.handle), "waiting for the GPU");
}

void CudaDevice::wait(Ticket ticket) {
  if (ticket <= done)
    return;
  session.enter();
  Ticket upTo = asked;
  synchronize();
  done = upTo;
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
    throw Failure(Exit::device, "the emulated GPU is for tests and is not installed: its libraries "
                                "are built into lib/emulated-cuda of a build tree, or stand in the "
                                "folder that WEIR_EMULATED_CUDA names, but there are none in " +
                                    folder.string());
  return folder;
}

bool serves(std::string_view target) { return target == "cuda" || target.starts_with("cuda:"); }

std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options) {
  return std::make_unique<CudaDevice>(program, options, "");
}

std::unique_ptr<Device> makeEmulated(const artifact::Program &program,
                                     const DeviceOptions &options) {
  return std::make_unique<CudaDevice>(program, options, emulatedFolder());
}

void checkCode(const artifact::Program &program) { codeOf(program); }

} // namespace weir::cuda
