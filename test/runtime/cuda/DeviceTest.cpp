//===- DeviceTest.cpp - The GPU's streams, staging and faults --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What test/conformance/device asks of every device is not asked again. Faults are planted in plans
// that the loader would refuse, so the device gets them past it.
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "runtime/cuda/CudaDevice.h"
#include "support/Error.h"
#include "test/emulated-cuda/Private.h"
#include "test/runtime/core/TestProgram.h"
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace weir::cuda {
namespace {

using Builder = TestProgram;
constexpr size_t count = 300, bytes = count * sizeof(float);

/// Doubles nothing: it passes its input through two buffers to its output. Queue 1 copies in, queue
/// 0 the rest.
struct Staged : Builder {
  enum Place : size_t { begun, waitBegun, copyIn, copied, waitCopied, pass, copyOut };

  Staged() {
    device().target = "cuda";
    device().queues = 2;
    device().pinned = 2 * 2048;
    variable("w", {1});
    artifact::EntryT &entry = step();
    entry.events = 2;
    in = pinned(0), out = pinned(2048);
    uint32_t first = buffer(entry, bytes, 0, 6), second = buffer(entry, bytes, 0, 6);
    entry.inputs.push_back(port("x", artifact::PortKind::input, buf(in), {count}));
    entry.outputs.push_back(port("y", artifact::PortKind::tensor, buf(out), {count}));
    add(event(artifact::RecordT(), 0, 0));
    add(event(artifact::WaitT(), 0, 1));
    add(copy(buf(in), buf(first), bytes));
    entry.actions.back()->queue = 1;
    add(event(artifact::RecordT(), 1, 1));
    add(event(artifact::WaitT(), 1, 0));
    add(copy(buf(first), buf(second), bytes));
    add(copy(buf(second), buf(out), bytes));
  }

  void drop(Place place) {
    step().actions.erase(step().actions.begin() + place);
    // Buffers live as long as there are actions.
    for (auto &buffer : step().buffers)
      buffer->last = std::min<uint32_t>(buffer->last, step().actions.size() - 1);
  }

private:
  uint32_t pinned(uint64_t offset) {
    uint32_t number = bufferAt(step(), offset, bytes, 0, 6);
    step().buffers[number]->space = artifact::Space::pinned;
    return number;
  }
  template <typename Work> static Action event(Work work, uint32_t number, uint32_t queue) {
    work.event = number;
    Action made = action(std::move(work), {});
    made->queue = queue;
    return made;
  }
  uint32_t in = 0, out = 0;
};

/// The emulated GPU, as new, whose orders `seed` draws.
class Gpu {
public:
  explicit Gpu(uint64_t seed) {
    setenv("WEIR_EMULATED_CUDA", LIBRARIES, 1);
    static void *library = dlopen(LIBRARIES "/libcuda.so.1", RTLD_NOW);
    reset = reinterpret_cast<decltype(reset)>(dlsym(library, "weirEmulatedReset"));
    faultsOf = reinterpret_cast<decltype(faultsOf)>(dlsym(library, "weirEmulatedFaults"));
    reset(/*checked=*/1, seed);
  }
  std::string faults() const { return faultsOf(); }

private:
  decltype(&weirEmulatedReset) reset;
  decltype(&weirEmulatedFaults) faultsOf;
};

/// Runs `steps` of the plan, each asked for before the one before is waited for. Returns what went
/// wrong.
std::string runAhead(const Builder &test, int steps, bool graph) {
  std::vector<std::byte> payload = test.payload();
  const artifact::Program &program = *artifact::GetProgram(payload.data());
  const artifact::Entry &step = *program.entries()->Get(1);
  try {
    auto device = makeEmulated(program, {.graph = graph});
    Address in = artifact::addressOf(program, step, *step.inputs()->Get(0)->ref()),
            out = artifact::addressOf(program, step, *step.outputs()->Get(0)->ref());
    EXPECT_EQ(device->facts().ahead, 1);
    std::vector<Ticket> runs;
    auto check = [&](int number) {
      device->wait(runs[number]);
      std::vector<float> y(count);
      device->wait(device->read(out, std::as_writable_bytes(std::span(y))));
      EXPECT_EQ(y, std::vector<float>(count, float(number))) << "step " << number;
    };
    for (int number = 0; number < steps; ++number) {
      std::vector<float> x(count, float(number));
      device->wait(device->write(in, std::as_bytes(std::span(x))));
      runs.push_back(device->run(1));
      if (number > 0)
        check(number - 1);
    }
    check(steps - 1);
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::device) << failure.what();
    return failure.what();
  }
  return "";
}

TEST(CudaDevice, RunsAheadOfWhatTheHostReads) {
  Staged().file(); // what the loader takes
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (bool graph : {true, false}) {
      Gpu gpu(seed);
      EXPECT_EQ(runAhead(Staged(), 6, graph), "") << gpu.faults();
    }
}

TEST(CudaDevice, TheLoaderRefusesWhatIsNotOrdered) {
  std::vector<std::byte> whole = Staged().file();
  artifact::verify(whole);
  for (Staged::Place place : {Staged::waitBegun, Staged::copied, Staged::waitCopied}) {
    Staged test;
    test.drop(place);
    std::vector<std::byte> file = test.file();
    EXPECT_THROW(artifact::verify(file), Failure) << "without action " << place;
  }
}

/// In how many of ten orders the plan fails with that error without an action.
int caught(Staged::Place place, bool graph, const char *error) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Staged test;
    test.drop(place);
    Gpu gpu(seed);
    found += runAhead(test, 4, graph).find(error) != std::string::npos;
  }
  return found;
}
constexpr const char *unordered = "CUDA_ERROR_LAUNCH_FAILED",
                     *unjoined = "CUDA_ERROR_STREAM_CAPTURE_UNJOINED";

// Planted: a removed event.
TEST(CudaDevice, ARemovedEventIsCaught) {
  EXPECT_EQ(caught(Staged::copied, false, unordered), 10);
  EXPECT_EQ(caught(Staged::copied, true, unjoined), 10);
}

// Planted: what computes does not wait for the queue that copies.
TEST(CudaDevice, AMissingWaitForTheCopyQueueIsCaught) {
  EXPECT_EQ(caught(Staged::waitCopied, false, unordered), 10);
  EXPECT_EQ(caught(Staged::waitCopied, true, unjoined), 10);
}

// Planted: the queue that copies does not wait for what computes with what it overwrites.
TEST(CudaDevice, AMissingWaitOnTheCopyQueueIsCaught) {
  EXPECT_EQ(caught(Staged::waitBegun, false, unordered), 10);
}

/// Waits for the GPU in the middle of a run, as who looks at values does.
class Waiting : public Observer {
public:
  explicit Waiting(Device &device) : device(device) {}
  void before(const ActionPlace &) override {
    std::byte value;
    device.wait(device.read(0, {&value, 1}));
  }
  void after(const ActionPlace &) override {}

private:
  Device &device;
};

// An observer's waits are allowed, for then nothing is captured.
TEST(CudaDevice, AnObserverIsNoFault) {
  Gpu gpu(1);
  std::vector<std::byte> payload = Staged().payload();
  const artifact::Program &program = *artifact::GetProgram(payload.data());
  auto device = makeEmulated(program, {});
  device->wait(device->run(0));
  Waiting waiting(*device);
  device->observe(&waiting);
  EXPECT_EQ(device->facts().ahead, 0);
  std::vector<float> x(count, 1);
  device->wait(device->write(artifact::memoryOf(program) - 2 * 2048, std::as_bytes(std::span(x))));
  device->wait(device->run(1));
  EXPECT_EQ(gpu.faults(), "");
}

TEST(CudaDevice, AKernelOfTheHostsMemoryIsRefused) {
  Gpu gpu(1);
  Staged test;
  spec::Product product;
  product.m = product.n = product.k = 2;
  product.aRow = product.bRow = product.cRow = 2, product.aColumn = product.bColumn = 1;
  product.tileM = product.tileN = 2;
  test.add(Builder::call(product, {Builder::buf(0), Builder::buf(0), Builder::buf(2)}));
  std::vector<std::byte> payload = test.payload();
  try {
    makeEmulated(*artifact::GetProgram(payload.data()), {});
    ADD_FAILURE() << "made";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
    EXPECT_NE(std::string(failure.what()).find("works on the host's memory"), std::string::npos);
  }
}

} // namespace
} // namespace weir::cuda
