//===- KernelFaultTest.cpp - Faults planted in kernels are caught at every seed --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"

namespace weir::cuda {
namespace {

struct Fault {
  const char *name;
  const char *text; ///< kernel_0(const float *in, float *out, int n); in and out hold n floats
  CUresult error;
  const char *says; ///< part of the report
  unsigned blocks = 2, threads = 64, sharedBytes = 1024;
  int n = 128;
  bool isOutWritten = false; ///< before the launch
  bool alsoPlain = false;    ///< caught without checks, too
};

void PrintTo(const Fault &fault, std::ostream *out) { *out << fault.name; }

#define KERNEL "extern \"C\" __global__ void kernel_0(const float *in, float *out, int n) {\n"
#define INDEX "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
#define SHARED "  float *s = reinterpret_cast<float *>(weir_shared);\n"

const Fault faults[] = {
    {"ReadBeyondTheEnd", KERNEL INDEX "  out[i] = in[i + 1];\n}", CUDA_ERROR_ILLEGAL_ADDRESS,
     "kernel_0, block 1, thread 63: reads 4 bytes at +512 of the allocation of 512 bytes"},
    {"WriteBeyondTheEnd", KERNEL INDEX "  out[i] = 1.0f;\n}", CUDA_ERROR_ILLEGAL_ADDRESS,
     "writes 4 bytes at +", 3},
    {"WriteBeforeTheBeginning", KERNEL INDEX "  out[i - 1] = 1.0f;\n}", CUDA_ERROR_ILLEGAL_ADDRESS,
     "kernel_0, block 0, thread 0: writes 4 bytes at"},
    {"NullPointer", KERNEL INDEX "  out[i] = ((float *)nullptr)[n];\n}", CUDA_ERROR_ILLEGAL_ADDRESS,
     "0x200, which is no memory of the device"},
    {"MisalignedScalar", KERNEL INDEX "  out[i] = *(const float *)((const char *)in + 2);\n}",
     CUDA_ERROR_MISALIGNED_ADDRESS, "is not aligned"},
    {"MisalignedVector",
     KERNEL INDEX "  weir_store(out + 4 * (i % 16), weir_load<float, 4>(in + 1));\n}",
     CUDA_ERROR_MISALIGNED_ADDRESS, "accesses 16 bytes at", 1, 8, 0, 128, false, true},
    {"GlobalNeverWritten", KERNEL INDEX "  if (i + 1 < n) out[i] = out[i + 1] + in[i];\n}",
     CUDA_ERROR_LAUNCH_FAILED, "that were never written"},
    {"AddToNeverWritten", KERNEL INDEX "  out[i] += in[i];\n}", CUDA_ERROR_LAUNCH_FAILED,
     "that were never written"},
    {"SharedNeverWritten",
     KERNEL INDEX SHARED "  if (t < 63) s[t] = in[i];\n  __syncthreads();\n"
                         "  out[i] = s[63 - t];\n}",
     CUDA_ERROR_LAUNCH_FAILED, "+252 of 1024 bytes of shared memory that were never written"},
    {"SharedOfAnotherBlock",
     KERNEL INDEX SHARED "  if (blockIdx.x == 0) s[t] = in[i];\n  out[i] = s[t];\n}",
     CUDA_ERROR_LAUNCH_FAILED, "that were never written"},
    {"SharedBeyondTheLaunch", KERNEL INDEX SHARED "  s[t] = in[i];\n  out[i] = s[t];\n}",
     CUDA_ERROR_ILLEGAL_ADDRESS, "beyond what the launch asked for", 2, 64, 252},
    {"StaticArrayIndex",
     KERNEL INDEX "  __shared__ float s[32];\n  s[t] = in[i];\n  out[i] = s[t];\n}",
     CUDA_ERROR_ILLEGAL_ADDRESS, "is beyond an array"},
    {"MissingFirstBarrier", KERNEL INDEX SHARED "  s[t] = in[i];\n  out[i] = s[63 - t];\n}",
     CUDA_ERROR_LAUNCH_FAILED, ""},
    {"MissingSecondBarrier",
     KERNEL INDEX SHARED "  s[t] = in[i];\n  __syncthreads();\n  float x = s[63 - t];\n"
                         "  s[t] = x + 1.0f;\n  __syncthreads();\n  out[i] = s[63 - t];\n}",
     CUDA_ERROR_LAUNCH_FAILED, "with nothing to order the two"},
    {"MissingBarrierInLoop",
     KERNEL INDEX SHARED "  float sum = 0.0f;\n  for (int k = 0; k < 3; ++k) {\n"
                         "    s[t] = in[i] + float(k);\n    __syncthreads();\n"
                         "    sum += s[(t + 32) % 64];\n  }\n  out[i] = sum;\n}",
     CUDA_ERROR_LAUNCH_FAILED, "with nothing to order the two"},
    {"MissingWarpBarrier",
     KERNEL INDEX SHARED "  s[t] = in[i];\n  float x = __shfl_xor_sync(0xffffffffu, in[i], 1);\n"
                         "  out[i] = s[t ^ 1] + x;\n}",
     CUDA_ERROR_LAUNCH_FAILED, ""},
    {"WarpBarrierForTheBlock",
     KERNEL INDEX SHARED "  s[t] = in[i];\n  __syncwarp();\n  out[i] = s[63 - t];\n}",
     CUDA_ERROR_LAUNCH_FAILED, ""},
    {"AddAcrossBlocks", KERNEL INDEX "  if (t == 0) out[0] += in[i];\n}", CUDA_ERROR_LAUNCH_FAILED,
     "with nothing to order the two", 4, 32, 0, 128, true},
    {"AddAcrossThreads", KERNEL INDEX "  out[blockIdx.x] += in[i];\n}", CUDA_ERROR_LAUNCH_FAILED,
     "with nothing to order the two", 2, 64, 0, 128, true},
    {"AtomicAndPlain",
     KERNEL INDEX "  if (i == 5) out[0] = in[i];\n  else atomicAdd(out, in[i]);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "with nothing to order the two", 2, 64, 0, 128, true},
    {"SameWordTwice", KERNEL INDEX "  out[i % 100] = in[i];\n}", CUDA_ERROR_LAUNCH_FAILED,
     "wrote, with nothing to order the two"},
    {"ReadInAnotherBlock", KERNEL INDEX "  out[i] = in[i] + out[(i + 64) % n];\n}",
     CUDA_ERROR_LAUNCH_FAILED, "with nothing to order the two", 2, 64, 0, 128, true},
    {"HalfWords",
     KERNEL INDEX "  unsigned short *h = (unsigned short *)out;\n  h[i + (i == 7)] = 1;\n}",
     CUDA_ERROR_LAUNCH_FAILED, "2 bytes at +16 of"},
    {"DivergentBarrier", KERNEL INDEX "  if (t < 40) __syncthreads();\n  out[i] = in[i];\n}",
     CUDA_ERROR_LAUNCH_FAILED, "waits at the barrier of kernel.cu:4, but thread", 2, 64, 0, 128,
     false, true},
    {"TwoBarriersForOne",
     KERNEL INDEX "  if (t < 40)\n    __syncthreads();\n  else\n    __syncthreads();\n"
                  "  out[i] = in[i];\n}",
     CUDA_ERROR_LAUNCH_FAILED, "waits at the barrier of kernel.cu:", 2, 64, 0, 128, false, true},
    {"EndBeforeShuffle",
     KERNEL INDEX
     "  if (t % 32 == 31) return;\n  out[i] = __shfl_xor_sync(0xffffffffu, in[i], 1);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "the shuffle of kernel.cu:5", 2, 64, 0, 128, false, true},
    {"LaneNotInMask", KERNEL INDEX "  out[i] = __shfl_xor_sync(0x0000ffffu, in[i], 1);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "whose mask does not name its lane", 2, 64, 0, 128, false, true},
    {"LaneTheBlockLacks", KERNEL INDEX "  out[i] = __shfl_xor_sync(0xffffffffu, in[i], 1);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "names lanes that the block does not have", 2, 48, 0, 128, false,
     true},
    {"SourceNotInMask",
     KERNEL INDEX "  if (t % 32 < 16) out[i] = __shfl_xor_sync(0x0000ffffu, in[i], 16);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "one that the mask does not name", 2, 64, 0, 128, false, true},
    {"DifferentShuffles",
     KERNEL INDEX "  if (t < 7)\n    out[i] = __shfl_xor_sync(0xffffffffu, in[i], 1);\n  else\n"
                  "    out[i] = __shfl_xor_sync(0xffffffffu, in[i], 1);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "waits at the shuffle of kernel.cu:", 2, 64, 0, 128, false, true},
    {"BarrierAndShuffle",
     KERNEL INDEX "  if (t == 3) __syncthreads();\n"
                  "  out[i] = __shfl_xor_sync(0xffffffffu, in[i], 1);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "", 2, 64, 0, 128, false, true},
    // Of the operating system's half of the address space: above the emulated memory in every
    // process.
    {"AboveAllMemory",
     KERNEL INDEX "  out[i] = *(const float *)(0xffff800000000000ull + i * 4);\n}",
     CUDA_ERROR_ILLEGAL_ADDRESS, "which is no memory of the device"},
};

class KernelFault : public testing::TestWithParam<Fault> {};

CUresult runFault(Gpu &gpu, const Fault &fault) {
  CUfunction kernel = gpu.kernel(fault.text);
  CUdeviceptr in = gpu.holding(ramp(size_t(fault.n)));
  CUdeviceptr out =
      fault.isOutWritten ? gpu.holding(ramp(size_t(fault.n))) : gpu.memory(size_t(fault.n) * 4);
  EXPECT_EQ(gpu.launch(kernel, fault.blocks, fault.threads, Arguments(in, out, fault.n),
                       fault.sharedBytes),
            CUDA_SUCCESS);
  return gpu.synchronize();
}

TEST_P(KernelFault, IsCaught) {
  const Fault &fault = GetParam();
  for (bool checked : {true, false}) {
    if (!checked && !fault.alsoPlain)
      continue;
    forEachSeed(20, [&](uint64_t seed) {
      Gpu gpu(seed, checked);
      EXPECT_EQ(runFault(gpu, fault), fault.error);
      EXPECT_NE(gpu.faults().find(fault.says), std::string::npos) << gpu.faults();
      EXPECT_NE(gpu.faults().find("kernel_0, block "), std::string::npos) << gpu.faults();
      // As on a GPU, nothing goes on.
      CUdeviceptr more = 0;
      EXPECT_EQ(api().cuMemAlloc_v2(&more, 4), fault.error);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Emulated, KernelFault, testing::ValuesIn(faults),
                         [](const testing::TestParamInfo<Fault> &info) {
                           return std::string(info.param.name);
                         });

} // namespace
} // namespace weir::cuda
