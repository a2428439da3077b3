//===- CorrectTest.cpp - Right kernels raise no alarm and give right results --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <cmath>

namespace weir::cuda {
namespace {

struct Right {
  const char *name;
  const char *text; ///< kernel_0(const float *in, float *out, int n); in is 0, 1, 2, ...
  float (*expected)(int i, int n);
  unsigned blocks, threads, sharedBytes;
  int n, results;
};

void PrintTo(const Right &right, std::ostream *out) { *out << right.name; }

#define KERNEL "extern \"C\" __global__ void kernel_0(const float *in, float *out, int n) {\n"
#define INDEX "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
#define SHARED "  float *s = reinterpret_cast<float *>(weir_shared);\n"

float same(int i, int) { return float(i); }

const Right rights[] = {
    {"Guard", KERNEL INDEX "  if (i >= n) return;\n  out[i] = in[i];\n}", same, 4, 256, 0, 1000,
     1000},
    {"BoundsAndWrappedLine",
     "extern \"C\" __global__ void\n__launch_bounds__(64)\nkernel_0(const float *__restrict__ in,\n"
     "         float *__restrict__ out, int n) {\n" INDEX "#pragma unroll\n"
     "  for (int k = 0; k < 2; ++k) out[2 * i + k] = in[2 * i + k];\n}",
     same, 4, 64, 0, 512, 512},
    {"Vectors", KERNEL INDEX "  weir_store(out + 4 * i, weir_load<float, 4>(in + 4 * i));\n}", same,
     2, 64, 0, 512, 512},
    {"TwoBarriers",
     KERNEL INDEX SHARED
     "  for (int k = 0; k < 3; ++k) {\n    s[t] = in[i];\n    __syncthreads();\n"
     "    out[i] = s[63 - t];\n    __syncthreads();\n  }\n}",
     [](int i, int) { return float(i / 64 * 64 + 63 - i % 64); }, 2, 64, 256, 128, 128},
    {"Transposition",
     KERNEL INDEX
     "  __shared__ float s[16][17];\n  s[t / 16][t % 16] = in[i];\n  __syncthreads();\n"
     "  out[i] = s[t % 16][t / 16];\n}",
     [](int i, int) { return float(i / 256 * 256 + i % 16 * 16 + i / 16 % 16); }, 2, 256, 0, 512,
     512},
    {"WarpExchange",
     KERNEL INDEX SHARED
     "  s[t] = in[i];\n  __syncwarp();\n  float x = s[t ^ 1];\n  __syncwarp();\n"
     "  s[t] = x;\n  out[i] = s[t];\n}",
     [](int i, int) { return float(i ^ 1); }, 2, 128, 512, 256, 256},
    {"HalfAWarpExchanges",
     KERNEL INDEX SHARED "  unsigned mask = t % 32 < 16 ? 0xffffu : 0xffff0000u;\n  s[t] = in[i];\n"
                         "  __syncwarp();\n  float a = s[t ^ 16];\n  __syncwarp(mask);\n"
                         "  out[i] = a - s[t ^ 1] + in[i ^ 1];\n}",
     [](int i, int) { return float(i ^ 16); }, 2, 64, 256, 128, 128},
    {"Shuffles",
     KERNEL INDEX "  float x = __shfl_xor_sync(0xffffffffu, in[i], 3);\n"
                  "  x = __shfl_sync(0xffffffffu, x, (t + 1) % 32);\n"
                  "  x = __shfl_down_sync(0xffffffffu, x, 1);\n"
                  "  if (__ballot_sync(0xffffffffu, t & 1) != 0xaaaaaaaau) x = -1.0f;\n"
                  "  out[i] = x;\n}",
     [](int i, int) {
       int lane = i % 32 == 31 ? 31 : i % 32 + 1;
       return float(i / 32 * 32 + (((lane + 1) % 32) ^ 3));
     },
     2, 64, 0, 128, 128},
    {"HalvesShuffleApart",
     KERNEL INDEX "  if (t % 32 < 16) out[i] = __shfl_xor_sync(0x0000ffffu, in[i], 1);\n"
                  "  else out[i] = __shfl_xor_sync(0xffff0000u, in[i], 2);\n}",
     [](int i, int) { return float(i % 32 < 16 ? i ^ 1 : i ^ 2); }, 2, 64, 0, 128, 128},
    {"WideShuffle",
     KERNEL INDEX "  long long x = (long long)in[i] << 32;\n"
                  "  out[i] = float(__shfl_xor_sync(0xffffffffu, x, 1) >> 32);\n}",
     [](int i, int) { return float(i ^ 1); }, 2, 64, 0, 128, 128},
    {"BlockSum",
     "template <int lanes> __device__ __forceinline__ float warp_sum(float x) {\n"
     "#pragma unroll\n  for (int d = lanes / 2; d > 0; d /= 2)\n"
     "    x += __shfl_xor_sync(0xffffffffu, x, d);\n  return x;\n}\n" KERNEL INDEX SHARED
     "  float x = warp_sum<32>(in[i]);\n  if (t % 32 == 0) s[t / 32] = x;\n  __syncthreads();\n"
     "  x = warp_sum<8>(s[t % 8]);\n  __syncthreads();\n  if (t == 0) out[blockIdx.x] = x;\n}",
     [](int i, int) { return float(256 * i * 256 + 255 * 128); }, 3, 256, 128, 768, 3},
    {"GlobalWithinABlock",
     KERNEL INDEX "  out[i] = in[i];\n  __syncthreads();\n  float x = out[i ^ 33];\n"
                  "  __syncthreads();\n  out[i] = x;\n}",
     [](int i, int) { return float(i ^ 33); }, 3, 64, 0, 192, 192},
    {"Atomics",
     KERNEL INDEX "  if (t == 0) out[blockIdx.x] = 0.0f;\n  __syncthreads();\n"
                  "  atomicAdd(out + blockIdx.x, in[t]);\n}",
     [](int, int) { return float(63 * 32); }, 3, 64, 0, 64, 3},
    {"HalfWords",
     KERNEL INDEX "  ((unsigned short *)out)[i] = (unsigned short)(__float_as_int(in[i / 2]) >> "
                  "16 * (i % 2));\n}",
     same, 4, 64, 0, 128, 128},
    {"Bytes",
     KERNEL INDEX "  ((unsigned char *)out)[i] = (unsigned char)(__float_as_int(in[i / 4]) >> "
                  "8 * (i % 4));\n}",
     same, 8, 64, 0, 128, 128},
    {"LocalArray",
     KERNEL INDEX "  float a[8];\n  for (int k = 0; k < 8; ++k) a[k] = in[(i + k) % n];\n"
                  "  out[i] = a[i % 8];\n}",
     [](int i, int n) { return float((i + i % 8) % n); }, 2, 64, 0, 128, 128},
    {"ConstantTable",
     "__constant__ float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};\n" KERNEL INDEX
     "  out[i] = in[i] + table[i % 4];\n}",
     [](int i, int) { return float(i + i % 4 + 1); }, 2, 64, 0, 128, 128},
    {"Arithmetic",
     KERNEL INDEX "  float x = in[i];\n  out[i] = fmaf(x, 2.0f, fabsf(-1.0f)) + floorf(0.5f) + "
                  "rintf(1.5f) + sqrtf(4.0f) + fmaxf(x, -1.0f) + fminf(__int_as_float(0x7fc00000), "
                  "0.0f) + copysignf(1.0f, -2.0f);\n}",
     [](int i, int) { return 3.0f * float(i) + 4; }, 2, 64, 0, 128, 128},
};

class RightKernel : public testing::TestWithParam<Right> {};

TEST_P(RightKernel, RaisesNoAlarm) {
  const Right &right = GetParam();
  for (bool checked : {true, false})
    forEachSeed(20, [&](uint64_t seed) {
      Gpu gpu(seed, checked);
      CUfunction kernel = gpu.kernel(right.text);
      CUdeviceptr in = gpu.holding(ramp(size_t(right.n)));
      CUdeviceptr out = gpu.memory(size_t(right.results) * 4);
      ASSERT_EQ(gpu.launch(kernel, right.blocks, right.threads, Arguments(in, out, right.n),
                           right.sharedBytes),
                CUDA_SUCCESS);
      std::vector<float> result = gpu.read<float>(out, size_t(right.results));
      for (int i = 0; i < right.results; ++i)
        ASSERT_EQ(result[size_t(i)], right.expected(i, right.n)) << "at " << i;
      EXPECT_EQ(gpu.faults(), "");
    });
}

INSTANTIATE_TEST_SUITE_P(Emulated, RightKernel, testing::ValuesIn(rights),
                         [](const testing::TestParamInfo<Right> &info) {
                           return std::string(info.param.name);
                         });

} // namespace

TEST(EmulatedNumbers, SubnormalsAreZeroAsTheOptionAsks) {
  Gpu gpu;
  CUfunction kernel =
      gpu.kernel("extern \"C\" __global__ void kernel_0(const float *in, float *out) "
                 "{\n  out[threadIdx.x] = in[threadIdx.x] * 0.5f;\n}");
  CUdeviceptr out = gpu.memory(4);
  ASSERT_EQ(gpu.launch(kernel, 1, 1, Arguments(gpu.holding<float>({1.5e-38f}), out)), CUDA_SUCCESS);
  EXPECT_EQ(gpu.read<float>(out, 1)[0], 0.0f);
  volatile float small = 1.5e-38f;
  EXPECT_GT(small * 0.5f, 0.0f); // and the host's are not
}

} // namespace weir::cuda
