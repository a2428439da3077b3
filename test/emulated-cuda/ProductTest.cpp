//===- ProductTest.cpp - Products of the stand-in for cuBLASLt ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/TestGpu.h"
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>

namespace weir::cuda {
namespace {

/// A column-major matrix, and whether the product takes its transpose.
struct Matrix {
  int type;
  uint64_t rows, columns;
  int64_t stride;
  int32_t batch = 1;
  int64_t batchStride = 0;
  int32_t operation = CUBLAS_OP_N;
};

struct Call {
  Matrix a, b, d;
  float alpha = 1, beta = 0;
  int32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT, biasType = -1;
  int compute = CUBLAS_COMPUTE_32F;
  size_t preferred = 4096, given = 4096;
  uint32_t alignment = 256;
  CUdeviceptr aAt = 0, bAt = 0, dAt = 0, bias = 0, workspace = 0;
  CUdeviceptr aScale = 0, bScale = 0;
};

cublasLtMatrixLayout_t layoutOf(const Matrix &matrix) {
  cublasLtMatrixLayout_t layout = nullptr;
  api().cublasLtMatrixLayoutCreate(&layout, matrix.type, matrix.rows, matrix.columns,
                                   matrix.stride);
  api().cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &matrix.batch,
                                         sizeof matrix.batch);
  api().cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                         &matrix.batchStride, sizeof matrix.batchStride);
  return layout;
}

/// The first status that is not success: of the heuristic or of the product.
cublasStatus_t multiply(const Call &call, CUstream stream = nullptr) {
  const Api &lt = api();
  cublasLtHandle_t handle = nullptr;
  EXPECT_EQ(lt.cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulDesc_t description = nullptr;
  lt.cublasLtMatmulDescCreate(&description, call.compute, CUDA_R_32F);
  auto set = [&](int attribute, auto value) {
    EXPECT_EQ(lt.cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value), 0);
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, call.a.operation);
  set(CUBLASLT_MATMUL_DESC_TRANSB, call.b.operation);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, call.epilogue);
  if (call.bias)
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias);
  if (call.aScale)
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, call.aScale);
  if (call.bScale)
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, call.bScale);
  if (call.biasType >= 0)
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, call.biasType);
  cublasLtMatrixLayout_t a = layoutOf(call.a), b = layoutOf(call.b), d = layoutOf(call.d);
  cublasLtMatmulPreference_t preference = nullptr;
  lt.cublasLtMatmulPreferenceCreate(&preference);
  lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                          &call.preferred, sizeof call.preferred);
  for (int i = 0; i < 4; ++i)
    lt.cublasLtMatmulPreferenceSetAttribute(preference,
                                            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + i,
                                            &call.alignment, sizeof call.alignment);
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  cublasStatus_t status = lt.cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, d, d,
                                                            preference, 1, &found, &count);
  auto at = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  if (status == CUBLAS_STATUS_SUCCESS) {
    EXPECT_EQ(count, 1);
    status = lt.cublasLtMatmul(handle, description, &call.alpha, at(call.aAt), a, at(call.bAt), b,
                               &call.beta, at(call.dAt), d, at(call.dAt), d, &found.algorithm,
                               at(call.workspace), call.given, stream);
  }
  for (cublasLtMatrixLayout_t layout : {a, b, d})
    lt.cublasLtMatrixLayoutDestroy(layout);
  lt.cublasLtMatmulPreferenceDestroy(preference);
  lt.cublasLtMatmulDescDestroy(description);
  lt.cublasLtDestroy(handle);
  return status;
}

size_t bytesOf(int type) {
  return type == CUDA_R_32F ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 1;
}

/// Small whole numbers and halves, which every type holds, as bytes of that type.
std::vector<uint8_t> bytesFrom(int type, const std::vector<float> &values) {
  std::vector<uint8_t> bytes;
  for (float value : values) {
    uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 31;
    int exponent = int(bits >> 23 & 255) - 127;
    auto small = [&](int bias, int mantissa) {
      return value == 0 ? sign << 7
                        : sign << 7 | uint32_t(exponent + bias) << mantissa |
                              (bits >> (23 - mantissa) & ((1u << mantissa) - 1));
    };
    if (type == CUDA_R_16BF)
      bits >>= 16;
    else if (type == CUDA_R_16F)
      bits = value == 0 ? 0 : sign << 15 | uint32_t(exponent + 15) << 10 | (bits >> 13 & 1023);
    else if (type == CUDA_R_8F_E4M3)
      bits = small(7, 3);
    else if (type == CUDA_R_8F_E5M2)
      bits = small(15, 2);
    auto *first = reinterpret_cast<uint8_t *>(&bits);
    bytes.insert(bytes.end(), first, first + bytesOf(type));
  }
  return bytes;
}

std::vector<float> pattern(size_t count, unsigned salt) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(int((i * 7 + i / 13 * 5 + salt) % 7) - 3) * 0.5f;
  return values;
}

float at(const std::vector<float> &values, const Matrix &m, uint64_t i, uint64_t j, int32_t batch) {
  if (m.operation == CUBLAS_OP_T)
    std::swap(i, j);
  return values[size_t(batch * m.batchStride) + i + j * uint64_t(m.stride)];
}

size_t extent(const Matrix &m) {
  return size_t((m.batch - 1) * m.batchStride + m.stride * int64_t(m.columns));
}

/// Runs the product and compares it with sums in double.
void expectRight(Gpu &gpu, Call call, bool isInPlace = false, float scale = 1) {
  std::vector<float> a = pattern(extent(call.a), 1), b = pattern(extent(call.b), 2);
  std::vector<float> c = pattern(extent(call.d), 3), bias = pattern(call.d.rows, 4);
  call.aAt = gpu.holding(bytesFrom(call.a.type, a));
  call.bAt = gpu.holding(bytesFrom(call.b.type, b));
  call.dAt = isInPlace ? gpu.holding(bytesFrom(call.d.type, c))
                       : gpu.memory(extent(call.d) * bytesOf(call.d.type));
  if (call.epilogue & 4)
    call.bias = gpu.holding(bytesFrom(call.biasType < 0 ? call.d.type : call.biasType, bias));
  call.workspace = gpu.memory(4096);
  ASSERT_EQ(multiply(call), CUBLAS_STATUS_SUCCESS);
  std::vector<uint8_t> result = gpu.read<uint8_t>(call.dAt, extent(call.d) * bytesOf(call.d.type));
  EXPECT_EQ(gpu.faults(), "");
  uint64_t inner = call.a.operation == CUBLAS_OP_N ? call.a.columns : call.a.rows;
  for (int32_t batch = 0; batch < call.d.batch; ++batch)
    for (uint64_t j = 0; j < call.d.columns; ++j)
      for (uint64_t i = 0; i < call.d.rows; ++i) {
        double sum = 0;
        for (uint64_t k = 0; k < inner; ++k)
          sum += double(at(a, call.a, i, k, batch)) * double(at(b, call.b, k, j, batch));
        size_t place = size_t(batch * call.d.batchStride) + i + j * uint64_t(call.d.stride);
        sum = double(scale) * call.alpha * sum + call.beta * double(c[place]) +
              (call.epilogue & 4 ? bias[i] : 0);
        if (call.epilogue & 2)
          sum = std::max(sum, 0.0);
        // Sums are multiples of a quarter: bf16 and f16 hold them where they are small.
        std::vector<uint8_t> expected = bytesFrom(call.d.type, {float(sum)});
        ASSERT_EQ(std::memcmp(&result[place * expected.size()], expected.data(), expected.size()),
                  0)
            << i << ", " << j << " of " << batch << ": " << sum;
      }
}

constexpr int f32 = CUDA_R_32F;

TEST(EmulatedProduct, EveryTransposition) {
  for (bool checked : {true, false})
    for (int32_t ta : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (int32_t tb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        Gpu gpu(1, checked);
        Call call{{f32, 19, 300, 23}, {f32, 300, 13, 300}, {f32, 19, 13, 20}};
        if (ta == CUBLAS_OP_T)
          call.a = {f32, 300, 19, 301, 1, 0, CUBLAS_OP_T};
        if (tb == CUBLAS_OP_T)
          call.b = {f32, 13, 300, 16, 1, 0, CUBLAS_OP_T};
        expectRight(gpu, call);
      }
}

TEST(EmulatedProduct, EveryType) {
  for (auto [in, out] : {std::pair(CUDA_R_16BF, f32),
                         {CUDA_R_16BF, CUDA_R_16BF},
                         {CUDA_R_16F, f32},
                         {CUDA_R_16F, CUDA_R_16F},
                         {CUDA_R_8F_E4M3, f32},
                         {CUDA_R_8F_E4M3, CUDA_R_16BF},
                         {CUDA_R_8F_E5M2, CUDA_R_16F}}) {
    SCOPED_TRACE(std::to_string(in) + " to " + std::to_string(out));
    Gpu gpu;
    int other = in == CUDA_R_8F_E5M2 ? CUDA_R_8F_E4M3 : in;
    expectRight(gpu, {{in, 16, 32, 16, 1, 0, CUBLAS_OP_T}, {other, 16, 48, 16}, {out, 32, 48, 32}});
  }
}

TEST(EmulatedProduct, BatchesAlsoOfOneFactor) {
  Gpu gpu;
  expectRight(gpu, {{f32, 5, 7, 5, 3, 40}, {f32, 7, 4, 7, 3, 0}, {f32, 5, 4, 6, 3, 24}});
}

TEST(EmulatedProduct, ScalesAndAdds) {
  Gpu gpu;
  Call call{{f32, 5, 7, 5}, {f32, 7, 4, 7}, {f32, 5, 4, 5}};
  call.alpha = 2, call.beta = 0.5f;
  expectRight(gpu, call, true);
}

TEST(EmulatedProduct, ScalesOfEightBits) {
  Gpu gpu;
  CUdeviceptr scales = gpu.holding(std::vector<float>{8, 0.25f, 2});
  Call call{{CUDA_R_8F_E5M2, 16, 32, 16, 1, 0, CUBLAS_OP_T},
            {CUDA_R_8F_E4M3, 16, 16, 16},
            {CUDA_R_16BF, 32, 16, 32}};
  call.epilogue = CUBLASLT_EPILOGUE_BIAS;
  call.aScale = scales + 4, call.bScale = scales + 8;
  expectRight(gpu, call, false, 0.5f);
}

TEST(EmulatedProduct, Epilogues) {
  for (int32_t epilogue :
       {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS})
    for (int biasType : {-1, f32}) {
      Gpu gpu;
      Call call{{CUDA_R_16BF, 5, 7, 5}, {CUDA_R_16BF, 7, 4, 7}, {CUDA_R_16BF, 5, 4, 5}};
      call.epilogue = epilogue, call.biasType = biasType;
      expectRight(gpu, call);
    }
}

/// A product that is right but for what the test changes.
struct Refused : testing::Test {
  Refused() {
    call.aAt = gpu.holding(ramp(35)), call.bAt = gpu.holding(ramp(28));
    call.dAt = gpu.memory(80), call.workspace = gpu.memory(4096);
  }
  Gpu gpu;
  Call call{{f32, 5, 7, 5}, {f32, 7, 4, 7}, {f32, 5, 4, 5}};
};

TEST_F(Refused, NotAsItIs) { EXPECT_EQ(multiply(call), CUBLAS_STATUS_SUCCESS); }
TEST_F(Refused, LeadingDimensionBelowRows) {
  call.a.stride = 4;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(Refused, SizesThatDiffer) {
  call.b.rows = 6;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(Refused, MatrixBeyondItsMemory) {
  call.a.stride = 6;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(Refused, WorkspaceTooSmall) {
  call.given = 1024;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_INVALID_VALUE);
}
TEST_F(Refused, TypesThatDiffer) {
  call.a.type = CUDA_R_16F;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(Refused, ScalesOfWideFactors) {
  call.aScale = call.aAt;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(Refused, BiasWithoutMemory) {
  call.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_INVALID_VALUE);
}

/// The same of eight bits.
struct RefusedF8 : testing::Test {
  RefusedF8() {
    for (CUdeviceptr *at : {&call.aAt, &call.bAt, &call.aScale})
      *at = gpu.holding(ramp(256));
    call.dAt = gpu.memory(2048), call.workspace = gpu.memory(4096), call.bias = call.aScale;
  }
  Gpu gpu;
  Call call{{CUDA_R_8F_E4M3, 16, 16, 16, 1, 0, CUBLAS_OP_T},
            {CUDA_R_8F_E5M2, 16, 16, 16},
            {f32, 16, 16, 16}};
};

TEST_F(RefusedF8, NotAsItIs) { EXPECT_EQ(multiply(call), CUBLAS_STATUS_SUCCESS); }
TEST_F(RefusedF8, LeftNotTransposed) {
  call.a.operation = CUBLAS_OP_N;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(RefusedF8, RightTransposed) {
  call.b.operation = CUBLAS_OP_T;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(RefusedF8, TwoE5M2) {
  call.a.type = CUDA_R_8F_E5M2;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(RefusedF8, OneFactorOfBf16) {
  call.b.type = CUDA_R_16BF;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(RefusedF8, ASizeBetweenMultiples) {
  call.a.rows = call.b.rows = 8;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(RefusedF8, AStrideBetweenMultiples) {
  call.a.stride = 20;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(RefusedF8, MatricesBetweenMultiples) {
  call.alignment = 8;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
}
TEST_F(RefusedF8, ABiasOfF32) {
  call.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_NOT_SUPPORTED);
  call.biasType = CUDA_R_16BF;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_SUCCESS);
}
TEST_F(RefusedF8, AScaleWithoutMemory) {
  call.bScale = 16;
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Refused, FactorNeverWrittenIsAFault) {
  call.aAt = gpu.memory(140);
  EXPECT_EQ(multiply(call), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gpu.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(gpu.faults().find("a product of 5 x 4 over 7: reads 140 bytes"), std::string::npos)
      << gpu.faults();
}

TEST_F(Refused, ResultReadWithoutWaitingIsAFault) {
  forEachSeed(20, [&](uint64_t seed) {
    Gpu fresh(seed);
    call.aAt = fresh.holding(ramp(35)), call.bAt = fresh.holding(ramp(28));
    call.dAt = fresh.holding(ramp(20)), call.workspace = fresh.memory(4096);
    EXPECT_EQ(multiply(call, fresh.stream()), CUBLAS_STATUS_SUCCESS);
    CUdeviceptr copy = fresh.memory(80);
    EXPECT_EQ(api().cuMemcpyDtoDAsync_v2(copy, call.dAt, 80, fresh.stream()), CUDA_SUCCESS);
    EXPECT_EQ(fresh.synchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(fresh.faults().find("with nothing to order the two"), std::string::npos);
  });
}

TEST_F(Refused, WorkspaceHoldsNothingAfterwards) {
  ASSERT_EQ(multiply(call), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(std::isnan(gpu.read<float>(call.workspace, 1)[0]));
}

TEST(EmulatedProduct, IsFastEnough) {
  Gpu gpu(0, false);
  constexpr int n = 512;
  Call call{{f32, n, n, n}, {f32, n, n, n}, {f32, n, n, n}};
  call.aAt = gpu.holding(ramp(n * n, 1e-3f)), call.bAt = call.aAt;
  call.dAt = gpu.memory(n * n * 4), call.workspace = gpu.memory(4096);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(multiply(call), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(gpu.synchronize(), CUDA_SUCCESS);
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 2.0 * n * n * n / time.count() * 1e-9);
  }
  // A figure, not a requirement: machines differ, and builds without optimisation are slow.
  RecordProperty("gigaflops", std::to_string(best));
  std::printf("%.1f GFLOP/s\n", best);
}

} // namespace
} // namespace weir::cuda
