//===- MatrixTest.cpp - Fragments lie as PTX says, copies end with their wait --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels index fragments by the formulas of the PTX manual ("Matrix Fragments for
// mma.m16n8k16" and so on), element by element; the products are then plain ones of row-major
// matrices.
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <cmath>

namespace weir::cuda {
namespace {

float element(int i) { return float((i * 7 + i / 5) % 13 - 6) / 4; }

std::vector<float> matrix(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i)
    values.push_back(element(i));
  return values;
}

/// d = d + a b, with a 16 x k and b k x 8.
std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b, int k) {
  std::vector<float> d = matrix(128);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column)
      for (int at = 0; at < k; ++at)
        d[size_t(row * 8 + column)] += a[size_t(row * k + at)] * b[size_t(at * 8 + column)];
  return d;
}

void expectProduct(const std::string &text, CUdeviceptr (*hold)(Gpu &, const std::vector<float> &),
                   int k) {
  for (bool checked : {true, false}) {
    Gpu gpu(3, checked);
    std::vector<float> a = matrix(16 * k), b = matrix(8 * k);
    CUfunction kernel = gpu.kernel(text);
    CUdeviceptr d = gpu.holding(matrix(128));
    ASSERT_EQ(gpu.launch(kernel, 1, 32, Arguments(hold(gpu, a), hold(gpu, b), d)), CUDA_SUCCESS);
    EXPECT_EQ(gpu.read<float>(d, 128), product(a, b, k));
    EXPECT_EQ(gpu.faults(), "");
  }
}

std::string halvesKernel(const std::string &type) {
  return "extern \"C\" __global__ void kernel_0(const unsigned short *a, const unsigned short *b,\n"
         "                                    float *d) {\n"
         "  int group = threadIdx.x / 4, inGroup = threadIdx.x % 4;\n"
         "  unsigned x[4] = {}, y[2] = {};\n"
         "  for (int i = 0; i < 8; ++i) {\n"
         "    int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;\n"
         "    int column = inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0);\n"
         "    x[i / 2] |= unsigned(a[row * 16 + column]) << 16 * (i % 2);\n"
         "  }\n"
         "  for (int i = 0; i < 4; ++i) {\n"
         "    int row = inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0);\n"
         "    y[i / 2] |= unsigned(b[row * 8 + group]) << 16 * (i % 2);\n"
         "  }\n"
         "  float z[4];\n"
         "  for (int i = 0; i < 4; ++i)\n"
         "    z[i] = d[(i < 2 ? group : group + 8) * 8 + inGroup * 2 + (i & 1)];\n"
         "  weir_mma_m16n8k16(" +
         type +
         "(), z, x, y[0], y[1]);\n"
         "  for (int i = 0; i < 4; ++i)\n"
         "    d[(i < 2 ? group : group + 8) * 8 + inGroup * 2 + (i & 1)] = z[i];\n"
         "}\n";
}

CUdeviceptr holdFloats(Gpu &gpu, const std::vector<float> &values) { return gpu.holding(values); }
CUdeviceptr holdBf16(Gpu &gpu, const std::vector<float> &values) {
  std::vector<uint16_t> bits;
  for (float value : values)
    bits.push_back(uint16_t(__builtin_bit_cast(uint32_t, value) >> 16));
  return gpu.holding(bits);
}
CUdeviceptr holdF16(Gpu &gpu, const std::vector<float> &values) {
  std::vector<uint16_t> bits;
  for (float value : values) {
    uint32_t wide = __builtin_bit_cast(uint32_t, value);
    uint32_t exponent = value == 0 ? 0 : (wide >> 23 & 255) - 112;
    bits.push_back(uint16_t(wide >> 16 & 0x8000) | uint16_t(exponent << 10) |
                   uint16_t(wide >> 13 & 0x3ff));
  }
  return gpu.holding(bits);
}

TEST(EmulatedMatrix, Bf16) { expectProduct(halvesKernel("weir_bf16"), holdBf16, 16); }
TEST(EmulatedMatrix, F16) { expectProduct(halvesKernel("weir_f16"), holdF16, 16); }

const char *tf32Kernel =
    "extern \"C\" __global__ void kernel_0(const float *a, const float *b, float *d) {\n"
    "  int group = threadIdx.x / 4, inGroup = threadIdx.x % 4;\n"
    "  unsigned x[4], y[2];\n"
    "  for (int i = 0; i < 4; ++i) {\n"
    "    int row = i == 0 || i == 2 ? group : group + 8;\n"
    "    int column = i < 2 ? inGroup : inGroup + 4;\n"
    "    x[i] = __float_as_uint(a[row * 8 + column]) | 0x1fff;\n"
    "  }\n"
    "  for (int i = 0; i < 2; ++i)\n"
    "    y[i] = __float_as_uint(b[(inGroup + 4 * i) * 8 + group]) | 0x1abc;\n"
    "  float z[4];\n"
    "  for (int i = 0; i < 4; ++i)\n"
    "    z[i] = d[(i < 2 ? group : group + 8) * 8 + inGroup * 2 + (i & 1)];\n"
    "  weir_mma_m16n8k8_tf32(z, x, y[0], y[1]);\n"
    "  for (int i = 0; i < 4; ++i)\n"
    "    d[(i < 2 ? group : group + 8) * 8 + inGroup * 2 + (i & 1)] = z[i];\n"
    "}\n";
TEST(EmulatedMatrix, Tf32DropsLowBits) { expectProduct(tf32Kernel, holdFloats, 8); }

/// Rows of 48 bytes: no two of a matrix side by side.
std::string loadKernel(const std::string &load) {
  return "extern \"C\" __global__ void kernel_0(const unsigned short *in, unsigned *out) {\n"
         "  unsigned short *s = reinterpret_cast<unsigned short *>(weir_shared);\n"
         "  int lane = threadIdx.x;\n"
         "  for (int i = 0; i < 8; ++i) s[lane * 24 + i] = in[lane * 8 + i];\n"
         "  __syncwarp();\n"
         "  unsigned to[4];\n  " +
         load +
         "(to, s + lane * 24);\n"
         "  for (int i = 0; i < 4; ++i) out[lane * 4 + i] = to[i];\n"
         "}\n";
}

void expectLoaded(const char *load, bool transposes) {
  for (bool checked : {true, false}) {
    Gpu gpu(5, checked);
    std::vector<uint16_t> in;
    for (int i = 0; i < 256; ++i)
      in.push_back(uint16_t(i * 257));
    CUdeviceptr out = gpu.memory(512);
    CUfunction kernel = gpu.kernel(loadKernel(load));
    ASSERT_EQ(gpu.launch(kernel, 1, 32, Arguments(gpu.holding(in), out), 32 * 48), CUDA_SUCCESS);
    std::vector<uint16_t> got = gpu.read<uint16_t>(out, 256);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int half = 0; half < 2; ++half) {
          int row = lane / 4, column = lane % 4 * 2 + half;
          if (transposes)
            std::swap(row, column);
          EXPECT_EQ(got[size_t((lane * 4 + i) * 2 + half)], in[size_t((i * 8 + row) * 8 + column)])
              << "lane " << lane << ", matrix " << i;
        }
    EXPECT_EQ(gpu.faults(), "");
  }
}

TEST(EmulatedMatrix, Loads) { expectLoaded("weir_ldmatrix_x4", false); }
TEST(EmulatedMatrix, LoadsTransposed) { expectLoaded("weir_ldmatrix_x4_trans", true); }

TEST(EmulatedMatrix, PowersAndLogarithms) {
  Gpu gpu;
  CUfunction kernel = gpu.kernel("extern \"C\" __global__ void kernel_0(const float *in, float "
                                 "*out) {\n  out[0] = weir_ex2(in[0]);\n  out[1] = "
                                 "weir_lg2(in[1]);\n}");
  CUdeviceptr out = gpu.memory(8);
  ASSERT_EQ(gpu.launch(kernel, 1, 1, Arguments(gpu.holding<float>({-INFINITY, 8}), out)),
            CUDA_SUCCESS);
  EXPECT_EQ(gpu.read<float>(out, 2), (std::vector<float>{0, 3}));
}

TEST(EmulatedMatrix, PairsOfBf16) {
  Gpu gpu;
  CUfunction kernel = gpu.kernel("extern \"C\" __global__ void kernel_0(const float *in, unsigned "
                                 "*out) {\n  out[0] = weir_pack_bf16(in[0], in[1]);\n}");
  CUdeviceptr out = gpu.memory(4);
  // The first lies half-way between two, of which the upper one is even.
  CUdeviceptr in = gpu.holding<uint32_t>({0x3f818000, 0xbf808000});
  ASSERT_EQ(gpu.launch(kernel, 1, 1, Arguments(in, out)), CUDA_SUCCESS);
  EXPECT_EQ(gpu.read<uint32_t>(out, 1)[0], 0xbf803f82u);
}

#define KERNEL "extern \"C\" __global__ void kernel_0(const float *in, float *out) {\n"
#define COPY                                                                                       \
  "  int t = threadIdx.x;\n  float *s = reinterpret_cast<float *>(weir_shared);\n"                 \
  "  weir_cp_async_16(s + 4 * t, in + 4 * t, t % 3 != 0);\n  weir_cp_async_commit();\n"
#define NEXT "  weir_cp_async_16(s + 256 + 4 * t, in + 256 + 4 * t);\n  weir_cp_async_commit();\n"
#define ANSWER "  for (int i = 0; i < 4; ++i) out[4 * t + i] = s[4 * (t ^ 33) + i];\n}"

CUresult runCopies(Gpu &gpu, const char *text, std::vector<float> *got = nullptr) {
  CUdeviceptr in = gpu.holding(ramp(512)), out = gpu.memory(1024);
  CUfunction kernel = gpu.kernel(text);
  EXPECT_EQ(gpu.launch(kernel, 1, 64, Arguments(in, out), 2048), CUDA_SUCCESS);
  if (got)
    *got = gpu.read<float>(out, 256);
  return gpu.synchronize();
}

TEST(EmulatedCopies, AreThereAfterTheWait) {
  for (const char *text :
       {KERNEL COPY "  weir_cp_async_wait<0>();\n  __syncthreads();\n" ANSWER,
        KERNEL COPY NEXT "  weir_cp_async_wait<1>();\n  __syncthreads();\n" ANSWER})
    for (bool checked : {true, false})
      forEachSeed(5, [&](uint64_t seed) {
        Gpu gpu(seed, checked);
        std::vector<float> got;
        EXPECT_EQ(runCopies(gpu, text, &got), CUDA_SUCCESS);
        for (int i = 0; i < 256; ++i)
          EXPECT_EQ(got[size_t(i)], (i / 4 ^ 33) % 3 == 0 ? 0.0f : float(i / 4 ^ 33) * 4 + i % 4);
        EXPECT_EQ(gpu.faults(), "");
      });
}

struct Fault {
  const char *name, *text;
  CUresult error;
  const char *says;
};
void PrintTo(const Fault &fault, std::ostream *out) { *out << fault.name; }

const Fault faults[] = {
    {"NoWait", KERNEL COPY "  __syncthreads();\n" ANSWER, CUDA_ERROR_LAUNCH_FAILED,
     "that were never written"},
    {"WaitForAnEarlierGroup",
     KERNEL COPY NEXT "  weir_cp_async_wait<2>();\n  __syncthreads();\n" ANSWER,
     CUDA_ERROR_LAUNCH_FAILED, "that were never written"},
    {"NoCommit",
     "extern \"C\" __global__ void kernel_0(const float *in, float *out) {\n"
     "  int t = threadIdx.x;\n  float *s = reinterpret_cast<float *>(weir_shared);\n"
     "  weir_cp_async_16(s + 4 * t, in + 4 * t);\n  weir_cp_async_wait<0>();\n"
     "  __syncthreads();\n" ANSWER,
     CUDA_ERROR_LAUNCH_FAILED, "that were never written"},
    {"NoBarrier", KERNEL COPY "  weir_cp_async_wait<0>();\n" ANSWER, CUDA_ERROR_LAUNCH_FAILED, ""},
    {"NoBarrierBeforeTheNext",
     KERNEL COPY "  weir_cp_async_wait<0>();\n  __syncthreads();\n  float x = s[4 * (t ^ 33)];\n"
                 "  weir_cp_async_16(s + 4 * t, in);\n  __syncthreads();\n"
                 "  weir_cp_async_commit();\n  weir_cp_async_wait<0>();\n  __syncthreads();\n"
                 "  out[t] = x;\n" ANSWER,
     CUDA_ERROR_LAUNCH_FAILED, "with nothing to order the two"},
    {"Misaligned",
     KERNEL "  weir_cp_async_16(weir_shared + 8, in);\n  weir_cp_async_commit();\n"
            "  weir_cp_async_wait<0>();\n}",
     CUDA_ERROR_MISALIGNED_ADDRESS, "which is not aligned"},
    {"BeyondTheEnd",
     KERNEL COPY "  weir_cp_async_16(s + 4 * t, in + 512);\n  weir_cp_async_commit();\n"
                 "  weir_cp_async_wait<0>();\n}",
     CUDA_ERROR_ILLEGAL_ADDRESS, "beyond"},
    {"MatrixWithoutBarrier",
     KERNEL "  int t = threadIdx.x;\n  float *s = reinterpret_cast<float *>(weir_shared);\n"
            "  for (int i = 0; i < 4; ++i) s[4 * t + i] = in[4 * t + i];\n"
            "  unsigned to[4];\n  weir_ldmatrix_x4(to, s + 4 * (t ^ 1));\n"
            "  out[t] = __uint_as_float(to[0]);\n}",
     CUDA_ERROR_LAUNCH_FAILED, ""},
    {"MatrixElsewhere", KERNEL "  unsigned to[4];\n  weir_ldmatrix_x4(to, in);\n}",
     CUDA_ERROR_ILLEGAL_ADDRESS, "elsewhere than the dynamic shared memory"},
    {"ProductOfHalfAWarp",
     KERNEL "  float d[4] = {};\n  unsigned a[4] = {};\n"
            "  if (threadIdx.x % 32 < 16) weir_mma_m16n8k16(weir_bf16(), d, a, 0, 0);\n}",
     CUDA_ERROR_LAUNCH_FAILED, "product of fragments"},
};

class MatrixFault : public testing::TestWithParam<Fault> {};

TEST_P(MatrixFault, IsCaught) {
  forEachSeed(10, [&](uint64_t seed) {
    Gpu gpu(seed);
    EXPECT_EQ(runCopies(gpu, GetParam().text), GetParam().error);
    EXPECT_NE(gpu.faults().find(GetParam().says), std::string::npos) << gpu.faults();
  });
}

INSTANTIATE_TEST_SUITE_P(Emulated, MatrixFault, testing::ValuesIn(faults),
                         [](const testing::TestParamInfo<Fault> &info) {
                           return std::string(info.param.name);
                         });

} // namespace
} // namespace weir::cuda
