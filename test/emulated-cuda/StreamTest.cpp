//===- StreamTest.cpp - Streams run in any order that nothing forbids ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <set>

namespace weir::cuda {
namespace {

const char *const scaling = R"(
extern "C" __global__ void kernel_0(const float *in, float *out, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * factor;
}
extern "C" __global__ void kernel_1(const float *a, const float *b, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}
)";
constexpr unsigned count = 128;

/// x on the first stream; y = 2x on the second; x + y on the first.
struct Fork {
  explicit Fork(uint64_t seed, bool checked = true) : gpu(seed, checked) {
    scale = gpu.kernel(scaling), add = gpu.kernel(scaling, "kernel_1");
    in = gpu.holding(ramp(count));
    // Written before, so that a read too early reads something.
    x = gpu.holding(ramp(count, 100)), y = gpu.holding(ramp(count, 100));
    out = gpu.memory(count * 4);
    main = gpu.stream(), side = gpu.stream();
    forked = gpu.event(), joined = gpu.event();
  }
  void submit(bool waitsAtFork, bool waitsAtJoin) {
    gpu.launch(scale, 2, 64, Arguments(in, x, 3.0f), 0, main);
    api().cuEventRecord(forked, main);
    if (waitsAtFork)
      api().cuStreamWaitEvent(side, forked, 0);
    gpu.launch(scale, 2, 64, Arguments(x, y, 2.0f), 0, side);
    api().cuEventRecord(joined, side);
    if (waitsAtJoin)
      api().cuStreamWaitEvent(main, joined, 0);
    gpu.launch(add, 2, 64, Arguments(x, y, out), 0, main);
  }
  Gpu gpu;
  CUfunction scale, add;
  CUdeviceptr in, x, y, out;
  CUstream main, side;
  CUevent forked, joined;
};

TEST(EmulatedStreams, ForkAndJoin) {
  for (bool checked : {true, false})
    forEachSeed(20, [&](uint64_t seed) {
      Fork fork(seed, checked);
      fork.submit(true, true);
      fork.submit(true, true); // the second fork waits for the first join by the main stream
      std::vector<float> result = fork.gpu.read<float>(fork.out, count);
      for (unsigned i = 0; i < count; ++i)
        ASSERT_EQ(result[i], 9.0f * float(i));
      EXPECT_EQ(fork.gpu.faults(), "");
    });
}

TEST(EmulatedStreams, MissingWaitAtForkIsCaught) {
  forEachSeed(50, [&](uint64_t seed) {
    Fork fork(seed);
    fork.submit(false, true);
    EXPECT_EQ(fork.gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(fork.gpu.faults().find("with nothing to order the two"), std::string::npos);
  });
}

TEST(EmulatedStreams, MissingWaitAtJoinIsCaught) {
  forEachSeed(50, [&](uint64_t seed) {
    Fork fork(seed);
    fork.submit(true, false);
    EXPECT_EQ(fork.gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(fork.gpu.faults().find("with nothing to order the two"), std::string::npos);
  });
}

TEST(EmulatedStreams, MissingWaitGivesWrongResultsWithoutChecks) {
  unsigned wrong = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Fork fork(seed, false);
    fork.submit(false, true);
    wrong += fork.gpu.read<float>(fork.out, count)[1] != 9.0f;
  }
  EXPECT_GT(wrong, 5u);
  EXPECT_LT(wrong, 50u);
}

TEST(EmulatedStreams, HostThatWaitedOrdersWhatFollows) {
  forEachSeed(20, [&](uint64_t seed) {
    Fork fork(seed);
    fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.in, fork.x, 3.0f), 0, fork.main);
    if (seed % 3 == 0)
      api().cuStreamSynchronize(fork.main);
    else if (seed % 3 == 1) {
      api().cuEventRecord(fork.forked, fork.main);
      api().cuEventSynchronize(fork.forked);
    } else
      while (api().cuStreamQuery(fork.main) == CUDA_ERROR_NOT_READY) {
      }
    fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.x, fork.y, 2.0f), 0, fork.side);
    EXPECT_EQ(fork.gpu.read<float>(fork.y, count)[1], 6.0f);
    EXPECT_EQ(fork.gpu.faults(), "");
  });
}

TEST(EmulatedStreams, WaitForOneStreamOrdersNoOther) {
  forEachSeed(20, [&](uint64_t seed) {
    Fork fork(seed);
    fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.in, fork.x, 3.0f), 0, fork.main);
    api().cuStreamSynchronize(fork.side);
    fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.x, fork.y, 2.0f), 0, fork.side);
    EXPECT_EQ(fork.gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
  });
}

TEST(EmulatedStreams, EventIsWaitedForAsItWasRecorded) {
  forEachSeed(20, [&](uint64_t seed) {
    Fork fork(seed);
    api().cuEventRecord(fork.forked, fork.main); // too early
    fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.in, fork.x, 3.0f), 0, fork.main);
    api().cuStreamWaitEvent(fork.side, fork.forked, 0);
    fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.x, fork.y, 2.0f), 0, fork.side);
    EXPECT_EQ(fork.gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
  });
}

TEST(EmulatedStreams, LegacyStreamIsOrderedWithBlockingOnesOnly) {
  for (bool isBlocking : {true, false})
    forEachSeed(20, [&](uint64_t seed) {
      Fork fork(seed);
      CUstream stream = fork.gpu.stream(isBlocking ? 0u : unsigned(CU_STREAM_NON_BLOCKING));
      fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.in, fork.x, 3.0f), 0, stream);
      fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.x, fork.y, 3.0f), 0, nullptr);
      fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.y, fork.x, 3.0f), 0, stream);
      EXPECT_EQ(fork.gpu.synchronize(), isBlocking ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED);
    });
}

TEST(EmulatedStreams, StagingBufferChangedTooEarlyShows) {
  Gpu gpu;
  CUdeviceptr memory = gpu.memory(4);
  CUstream stream = gpu.stream();
  float staging = 1;
  api().cuMemcpyHtoDAsync_v2(memory, &staging, 4, stream);
  staging = 2;
  EXPECT_EQ(gpu.read<float>(memory, 1)[0], 2.0f);
}

TEST(EmulatedStreams, ArgumentsAreKeptAtTheCall) {
  Fork fork(0);
  float factor = 3;
  void *list[] = {&fork.in, &fork.x, &factor};
  api().cuLaunchKernel(fork.scale, 2, 1, 1, 64, 1, 1, 0, fork.main, list, nullptr);
  factor = 5;
  EXPECT_EQ(fork.gpu.read<float>(fork.x, count)[1], 3.0f);
}

TEST(EmulatedStreams, CopiesAndFillsAreOrderedToo) {
  forEachSeed(20, [&](uint64_t seed) {
    Fork fork(seed);
    api().cuMemsetD32Async(fork.x, 0x40400000, count, fork.main); // 3
    api().cuMemcpyDtoDAsync_v2(fork.y, fork.x, count * 4, fork.side);
    EXPECT_EQ(fork.gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
  });
  Fork fork(0);
  api().cuMemsetD32Async(fork.x, 0x40400000, count, fork.main);
  api().cuMemcpyDtoDAsync_v2(fork.y, fork.x, count * 4, fork.main);
  api().cuMemsetD8Async(fork.y, 0, 4, fork.main);
  std::vector<float> result = fork.gpu.read<float>(fork.y, count);
  EXPECT_EQ(result[0], 0.0f);
  EXPECT_EQ(result[1], 3.0f);
}

TEST(EmulatedMemory, NeverWrittenMovesWithACopy) {
  Fork fork(0);
  CUdeviceptr from = fork.gpu.memory(count * 4);
  api().cuMemsetD8Async(from, 0, 8, nullptr);
  api().cuMemcpyDtoDAsync_v2(fork.x, from, count * 4, nullptr);
  fork.gpu.read<float>(fork.x, count); // the host may look, as long as something was written
  EXPECT_EQ(fork.gpu.faults(), "");
  fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.x, fork.y, 1.0f));
  EXPECT_EQ(fork.gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(fork.gpu.faults().find("that were never written"), std::string::npos);
}

TEST(EmulatedMemory, HostMayNotReadWhatWasNeverWritten) {
  Gpu gpu;
  CUdeviceptr memory = gpu.memory(64);
  char host[64];
  api().cuMemcpyDtoHAsync_v2(host, memory, 64, nullptr);
  EXPECT_EQ(gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(EmulatedMemory, FreedMemoryIsNobodys) {
  forEachSeed(20, [&](uint64_t seed) {
    Fork fork(seed);
    EXPECT_EQ(api().cuMemFree_v2(fork.y), CUDA_SUCCESS);
    fork.gpu.launch(fork.scale, 2, 64, Arguments(fork.in, fork.y, 1.0f));
    EXPECT_EQ(fork.gpu.synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  });
}

TEST(EmulatedMemory, AllocationsLieApart) {
  Gpu gpu;
  std::set<CUdeviceptr> addresses;
  for (size_t bytes : {1, 4096, 3, 100000, 512})
    addresses.insert(gpu.memory(bytes));
  EXPECT_EQ(addresses.size(), 5u);
  for (CUdeviceptr address : addresses)
    EXPECT_EQ(address % 256, 0u);
  CUdeviceptr none = 0;
  EXPECT_EQ(api().cuMemAlloc_v2(&none, size_t(17) << 30), CUDA_ERROR_OUT_OF_MEMORY);
  size_t available = 0, total = 0;
  EXPECT_EQ(api().cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS);
  EXPECT_EQ(total - available, 1u + 4096 + 3 + 100000 + 512);
}

} // namespace
} // namespace weir::cuda
