//===- NcclTest.cpp - Several emulated GPUs, and what they do together ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <atomic>
#include <functional>
#include <thread>

namespace weir::cuda {
namespace {

constexpr size_t count = 64, bytes = count * sizeof(float);

const char *const filling = R"(
extern "C" __global__ void kernel_0(float *out, float value) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
)";

/// A GPU of several, on a thread of its own, and its place in a communicator of all.
class Rank {
public:
  Rank(int members, int own, const ncclUniqueId &id, CUfunction fill)
      : own(own), members(members), fill(fill) {
    CUcontext context = nullptr;
    EXPECT_EQ(api().cuDevicePrimaryCtxRetain(&context, own), CUDA_SUCCESS);
    EXPECT_EQ(api().cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(api().cuStreamCreate(&main, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(api().cuStreamCreate(&side, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(api().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    EXPECT_EQ(api().cuMemAlloc_v2(&from, bytes), CUDA_SUCCESS);
    EXPECT_EQ(api().cuMemAlloc_v2(&to, size_t(members) * bytes), CUDA_SUCCESS);
    ncclConfig_t config = {sizeof config, ncclConfigMagic, ncclConfigVersion, 0};
    EXPECT_EQ(settled(api().ncclCommInitRankConfig(&communicator, members, id, own, &config)),
              ncclSuccess);
  }
  /// The context goes with the others', all of which may still look at what runs.
  void end() {
    api().ncclCommDestroy(communicator);
    api().cuDevicePrimaryCtxRelease_v2(own);
  }

  ncclResult_t settled(ncclResult_t result) {
    while (result == ncclInProgress) {
      std::this_thread::yield();
      api().ncclCommGetAsyncError(communicator, &result);
    }
    return result;
  }
  void compute(float value) {
    Arguments arguments(from, value);
    EXPECT_EQ(
        api().cuLaunchKernel(fill, 1, 1, 1, count, 1, 1, 0, main, arguments.pointers(), nullptr),
        CUDA_SUCCESS);
  }
  /// What is on one stream comes before what comes next on the other.
  void order(CUstream before, CUstream after) {
    EXPECT_EQ(api().cuEventRecord(event, before), CUDA_SUCCESS);
    EXPECT_EQ(api().cuStreamWaitEvent(after, event, 0), CUDA_SUCCESS);
  }
  ncclResult_t gather(CUstream stream, size_t size = bytes) {
    return settled(api().ncclAllGather(reinterpret_cast<void *>(from), reinterpret_cast<void *>(to),
                                       size, ncclUint8, communicator, stream));
  }
  /// Until the stream is done; false where it fails.
  bool wait(CUstream stream) {
    CUresult result = CUDA_ERROR_NOT_READY;
    while (result == CUDA_ERROR_NOT_READY && !isOver) {
      result = api().cuStreamQuery(stream);
      std::this_thread::yield();
    }
    return result == CUDA_SUCCESS;
  }
  std::vector<float> read() {
    std::vector<float> values(size_t(members) * count);
    EXPECT_EQ(api().cuMemcpyDtoHAsync_v2(values.data(), to, values.size() * sizeof(float), main),
              CUDA_SUCCESS);
    wait(main);
    return values;
  }

  const int own, members;
  const CUfunction fill;
  CUstream main = nullptr, side = nullptr;
  CUevent event = nullptr;
  CUdeviceptr from = 0, to = 0;
  ncclComm_t communicator = nullptr;
  static inline std::atomic<bool> isOver = false; ///< one has failed
};

struct EmulatedNccl : testing::Test {
  /// All ranks, each on its thread.
  void onRanks(int members, uint64_t seed, const std::function<void(Rank &)> &body,
               bool checked = true) {
    Gpu gpu(seed, checked);
    Rank::isOver = false;
    ncclUniqueId id;
    ASSERT_EQ(api().ncclGetUniqueId(&id), ncclSuccess);
    std::vector<CUfunction> fills(static_cast<size_t>(members), gpu.kernel(filling));
    std::vector<std::thread> threads;
    std::atomic<int> done = 0;
    for (int own = 0; own < members; ++own)
      threads.emplace_back([&, own] {
        Rank rank(members, own, id, fills[size_t(own)]);
        body(rank);
        ++done;
        while (done < members)
          std::this_thread::yield();
        rank.end();
      });
    for (std::thread &thread : threads)
      thread.join();
    faults = gpu.faults();
  }
  std::string faults;
};

TEST_F(EmulatedNccl, GathersInOrderOfMembers) {
  for (bool checked : {true, false})
    forEachSeed(10, [&](uint64_t seed) {
      onRanks(
          4, seed,
          [](Rank &rank) {
            rank.compute(float(rank.own + 1));
            rank.order(rank.main, rank.side);
            EXPECT_EQ(rank.gather(rank.side), ncclSuccess);
            rank.order(rank.side, rank.main);
            std::vector<float> values = rank.read();
            for (size_t member = 0; member < 4; ++member)
              EXPECT_EQ(values[member * count + 7], float(member + 1));
          },
          checked);
      EXPECT_EQ(faults, "");
    });
}

TEST_F(EmulatedNccl, EachLaunchOfAGraphIsAnOperation) {
  forEachSeed(5, [&](uint64_t seed) {
    onRanks(3, seed, [](Rank &rank) {
      ASSERT_EQ(api().cuStreamBeginCapture_v2(rank.main, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                CUDA_SUCCESS);
      rank.compute(float(10 * rank.own));
      EXPECT_EQ(rank.gather(rank.main), ncclSuccess);
      CUgraph graph = nullptr;
      CUgraphExec executable = nullptr;
      ASSERT_EQ(api().cuStreamEndCapture(rank.main, &graph), CUDA_SUCCESS);
      ASSERT_EQ(api().cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
      for (int launch = 0; launch < 3; ++launch) {
        EXPECT_EQ(api().cuGraphLaunch(executable, rank.main), CUDA_SUCCESS);
        EXPECT_EQ(rank.read()[2 * count], 20.0f);
      }
      api().cuGraphDestroy(graph);
      api().cuGraphExecDestroy(executable);
    });
    EXPECT_EQ(faults, "");
  });
}

TEST_F(EmulatedNccl, SharesOfOtherSizes) {
  onRanks(2, 1, [](Rank &rank) {
    // The first has a quarter for each, the second the rest.
    size_t given = rank.own ? bytes / 2 : bytes / 4;
    rank.compute(float(rank.own + 1));
    api().ncclGroupStart();
    for (int member = 0; member < 2; ++member) {
      api().ncclSend(reinterpret_cast<void *>(rank.from), given, ncclUint8, member,
                     rank.communicator, rank.main);
      api().ncclRecv(reinterpret_cast<void *>(rank.to + (member ? bytes / 4 : 0)),
                     member ? bytes / 2 : bytes / 4, ncclUint8, member, rank.communicator,
                     rank.main);
    }
    EXPECT_EQ(rank.settled(api().ncclGroupEnd()), ncclSuccess);
    rank.wait(rank.main);
    std::vector<float> values(3 * count / 4);
    api().cuMemcpyDtoHAsync_v2(values.data(), rank.to, values.size() * sizeof(float), rank.main);
    rank.wait(rank.main);
    EXPECT_EQ(values[0], 1.0f);
    EXPECT_EQ(values[count / 4], 2.0f);
    EXPECT_EQ(values[3 * count / 4 - 1], 2.0f);
  });
  EXPECT_EQ(faults, "");
}

/// What goes wrong is reported from the first seed on, whatever the order.
TEST_F(EmulatedNccl, MissingEventIsReported) {
  forEachSeed(10, [&](uint64_t seed) {
    onRanks(2, seed, [](Rank &rank) {
      rank.compute(1);
      rank.gather(rank.side); // nothing orders it behind what it sends
      rank.wait(rank.side) && rank.wait(rank.main);
      Rank::isOver = true;
    });
    EXPECT_NE(faults, "");
  });
}

TEST_F(EmulatedNccl, WrongCountIsReported) {
  onRanks(2, 0, [](Rank &rank) {
    rank.compute(1);
    rank.gather(rank.main, rank.own ? bytes : bytes / 2);
    rank.wait(rank.main);
    Rank::isOver = true;
  });
  // Both members see that their counts differ, and the first of them reports it.
  bool isOfFirst =
      faults.find("gets 128 bytes of member 1, which gives it 256") != std::string::npos;
  bool isOfOther =
      faults.find("gets 256 bytes of member 0, which gives it 128") != std::string::npos;
  EXPECT_TRUE(isOfFirst || isOfOther) << faults;
}

TEST_F(EmulatedNccl, UnorderedOperationsAreReported) {
  forEachSeed(5, [&](uint64_t seed) {
    onRanks(1, seed, [](Rank &rank) {
      rank.compute(1);
      rank.order(rank.main, rank.side);
      rank.gather(rank.main);
      rank.gather(rank.side);
      rank.wait(rank.main) && rank.wait(rank.side);
    });
    EXPECT_NE(faults.find("nothing orders it behind the one before of its communicator"),
              std::string::npos)
        << faults;
  });
}

TEST_F(EmulatedNccl, OthersHearOfAnAbort) {
  std::atomic<bool> isThere = false;
  onRanks(2, 0, [&](Rank &rank) {
    if (rank.own) {
      while (!isThere)
        std::this_thread::yield();
      api().ncclCommAbort(rank.communicator);
      return;
    }
    isThere = true; // a member has to know of the communicator to hear of its end
    rank.compute(1);
    ncclResult_t result = rank.gather(rank.main);
    while (result == ncclSuccess)
      api().ncclCommGetAsyncError(rank.communicator, &result);
    EXPECT_EQ(result, ncclRemoteError);
    EXPECT_EQ(api().cuStreamQuery(rank.main), CUDA_ERROR_NOT_READY);
    api().ncclCommAbort(rank.communicator);
    EXPECT_TRUE(rank.wait(rank.main)); // what waited has ended
  });
}

TEST_F(EmulatedNccl, DevicesHaveTheirOwnMemory) {
  std::atomic<CUdeviceptr> foreign = 0;
  onRanks(2, 0, [&](Rank &rank) {
    if (rank.own == 0)
      foreign = rank.from;
    rank.compute(1);
    rank.gather(rank.main);
    rank.wait(rank.main);
    if (rank.own)
      EXPECT_EQ(api().cuMemsetD8Async(foreign, 0, bytes, rank.main), CUDA_ERROR_INVALID_VALUE);
  });
}

} // namespace
} // namespace weir::cuda
