//===- CaptureTest.cpp - Graphs captured from streams, and what a capture forbids --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <thread>

namespace weir::cuda {
namespace {

const char *const scaling = R"(
extern "C" __global__ void kernel_0(const float *in, float *out, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * factor;
}
)";
constexpr unsigned count = 128;

struct EmulatedCapture : testing::Test {
  EmulatedCapture() { prepare(0); }
  void prepare(uint64_t seed, bool checked = true) {
    gpu = Gpu(seed, checked);
    scale = gpu.kernel(scaling);
    in = gpu.holding(ramp(count));
    x = gpu.holding(ramp(count, 100)), y = gpu.holding(ramp(count, 100));
    main = gpu.stream(), side = gpu.stream();
    forked = gpu.event(), joined = gpu.event();
  }
  CUresult launch(CUdeviceptr from, CUdeviceptr to, CUstream stream) {
    return gpu.launch(scale, 2, 64, Arguments(from, to, 2.0f), 0, stream);
  }
  CUresult begin(CUstream stream, int mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    return api().cuStreamBeginCapture_v2(stream, mode);
  }
  CUresult end(CUstream stream) { return api().cuStreamEndCapture(stream, &graph); }
  CUgraphExec instantiate() {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(api().cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(api().cuGraphDestroy(graph), CUDA_SUCCESS);
    return executable;
  }
  /// in -> x on main, x -> y on side.
  void captureFork(bool waitsAtFork) {
    EXPECT_EQ(begin(main), CUDA_SUCCESS);
    if (!waitsAtFork)
      api().cuEventRecord(forked, main);
    EXPECT_EQ(launch(in, x, main), CUDA_SUCCESS);
    if (waitsAtFork)
      api().cuEventRecord(forked, main);
    api().cuStreamWaitEvent(side, forked, 0);
    EXPECT_EQ(launch(x, y, side), CUDA_SUCCESS);
    api().cuEventRecord(joined, side);
    api().cuStreamWaitEvent(main, joined, 0);
    EXPECT_EQ(end(main), CUDA_SUCCESS);
  }

  Gpu gpu;
  CUfunction scale = nullptr;
  CUdeviceptr in = 0, x = 0, y = 0;
  CUstream main = nullptr, side = nullptr;
  CUevent forked = nullptr, joined = nullptr;
  CUgraph graph = nullptr;
};

TEST_F(EmulatedCapture, GraphRunsAtEachLaunch) {
  for (bool checked : {true, false})
    forEachSeed(20, [&](uint64_t seed) {
      prepare(seed, checked);
      captureFork(true);
      size_t nodes = 0;
      EXPECT_EQ(api().cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
      EXPECT_EQ(nodes, 2u);
      CUgraphExec executable = instantiate();
      EXPECT_EQ(gpu.read<float>(y, count)[1], 100.0f); // capturing runs nothing
      EXPECT_EQ(api().cuGraphLaunch(executable, main), CUDA_SUCCESS);
      EXPECT_EQ(launch(y, in, main), CUDA_SUCCESS); // behind all of the graph
      EXPECT_EQ(api().cuGraphLaunch(executable, main), CUDA_SUCCESS);
      EXPECT_EQ(gpu.read<float>(y, count)[1], 32.0f);
      EXPECT_EQ(gpu.faults(), "");
      EXPECT_EQ(api().cuGraphExecDestroy(executable), CUDA_SUCCESS);
    });
}

TEST_F(EmulatedCapture, MissingWaitInAGraphIsCaught) {
  forEachSeed(20, [&](uint64_t seed) {
    prepare(seed);
    captureFork(false);
    EXPECT_EQ(api().cuGraphLaunch(instantiate(), main), CUDA_SUCCESS);
    EXPECT_EQ(gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(gpu.faults().find("with nothing to order the two"), std::string::npos);
  });
}

TEST_F(EmulatedCapture, GraphIsOrderedOnItsStreamOnly) {
  forEachSeed(20, [&](uint64_t seed) {
    prepare(seed);
    captureFork(true);
    EXPECT_EQ(api().cuGraphLaunch(instantiate(), main), CUDA_SUCCESS);
    EXPECT_EQ(launch(y, in, side), CUDA_SUCCESS);
    EXPECT_EQ(gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
  });
}

TEST_F(EmulatedCapture, SynchronisingInvalidates) {
  begin(main);
  EXPECT_EQ(api().cuStreamSynchronize(main), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(launch(in, x, main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(launch(in, x, main), CUDA_SUCCESS); // no longer captured
}

TEST_F(EmulatedCapture, SynchronisingEverythingInvalidates) {
  begin(main);
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(EmulatedCapture, SynchronisingAnotherStreamIsAllowed) {
  begin(main);
  EXPECT_EQ(api().cuStreamSynchronize(side), CUDA_SUCCESS);
  EXPECT_EQ(end(main), CUDA_SUCCESS);
}

TEST_F(EmulatedCapture, AllocatingInvalidatesInItsThreadOnly) {
  CUdeviceptr memory = 0;
  begin(main);
  CUcontext context = nullptr;
  api().cuDevicePrimaryCtxRetain(&context, 0);
  std::thread([&] {
    api().cuCtxSetCurrent(context);
    EXPECT_EQ(api().cuMemAlloc_v2(&memory, 64), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(api().cuMemAlloc_v2(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(main, 2); // relaxed
  EXPECT_EQ(api().cuMemAlloc_v2(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(end(main), CUDA_SUCCESS);
}

TEST_F(EmulatedCapture, TwoCapturesCannotMerge) {
  begin(main), begin(side);
  api().cuEventRecord(forked, main);
  EXPECT_EQ(api().cuStreamWaitEvent(side, forked, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(side), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(EmulatedCapture, EndsWhereItBegan) {
  begin(main);
  api().cuEventRecord(forked, main);
  api().cuStreamWaitEvent(side, forked, 0);
  EXPECT_EQ(end(side), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(EmulatedCapture, StreamsMustBeJoined) {
  begin(main);
  api().cuEventRecord(forked, main);
  api().cuStreamWaitEvent(side, forked, 0);
  launch(in, x, side);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST_F(EmulatedCapture, EventsFromOutsideAreRefused) {
  launch(in, x, side);
  api().cuEventRecord(forked, side);
  begin(main);
  EXPECT_EQ(api().cuStreamWaitEvent(main, forked, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(EmulatedCapture, LegacyStreamMeetsABlockingOne) {
  CUstream blocking = gpu.stream(0);
  begin(blocking);
  EXPECT_EQ(launch(in, x, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(end(blocking), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(main);
  EXPECT_EQ(launch(in, x, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(end(main), CUDA_SUCCESS);
  EXPECT_EQ(begin(nullptr), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(EmulatedCapture, CapturedEventsCannotBeWaitedFor) {
  begin(main);
  api().cuEventRecord(forked, main);
  EXPECT_EQ(api().cuEventQuery(forked), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(api().cuEventSynchronize(forked), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(EmulatedCapture, EndsInItsThread) {
  CUcontext context = nullptr;
  api().cuDevicePrimaryCtxRetain(&context, 0);
  begin(main);
  std::thread([&] {
    api().cuCtxSetCurrent(context);
    EXPECT_EQ(end(main), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_EQ(end(main), CUDA_SUCCESS);
}

} // namespace
} // namespace weir::cuda
