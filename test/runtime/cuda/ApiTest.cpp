//===- ApiTest.cpp - Our declarations against the toolkit's ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the CUDA toolkit is installed; else there is nothing to compare with.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Api.h"
#include <gtest/gtest.h>

#ifdef WEIR_CUDA_HEADERS
#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#include <type_traits>
#include <vector>

#define WEIR_CUDA_NUMBERS(X)                                                                       \
  X(CUDA_SUCCESS)                                                                                  \
  X(CUDA_ERROR_INVALID_VALUE)                                                                      \
  X(CUDA_ERROR_OUT_OF_MEMORY)                                                                      \
  X(CUDA_ERROR_NOT_INITIALIZED)                                                                    \
  X(CUDA_ERROR_NO_DEVICE)                                                                          \
  X(CUDA_ERROR_INVALID_DEVICE)                                                                     \
  X(CUDA_ERROR_INVALID_IMAGE)                                                                      \
  X(CUDA_ERROR_INVALID_CONTEXT)                                                                    \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU)                                                                  \
  X(CUDA_ERROR_INVALID_HANDLE)                                                                     \
  X(CUDA_ERROR_NOT_FOUND)                                                                          \
  X(CUDA_ERROR_NOT_READY)                                                                          \
  X(CUDA_ERROR_ILLEGAL_ADDRESS)                                                                    \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)                                                            \
  X(CUDA_ERROR_MISALIGNED_ADDRESS)                                                                 \
  X(CUDA_ERROR_LAUNCH_FAILED)                                                                      \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)                                                         \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)                                                         \
  X(CUDA_ERROR_STREAM_CAPTURE_MERGE)                                                               \
  X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)                                                           \
  X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED)                                                            \
  X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION)                                                           \
  X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)                                                            \
  X(CUDA_ERROR_CAPTURED_EVENT)                                                                     \
  X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)                                                        \
  X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)                                                      \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)                                                  \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)                                                  \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                                         \
  X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)                                               \
  X(CU_STREAM_NON_BLOCKING)                                                                        \
  X(CU_EVENT_DEFAULT)                                                                              \
  X(CU_EVENT_DISABLE_TIMING)                                                                       \
  X(CUBLAS_STATUS_SUCCESS)                                                                         \
  X(CUBLAS_STATUS_NOT_INITIALIZED)                                                                 \
  X(CUBLAS_STATUS_INVALID_VALUE)                                                                   \
  X(CUBLAS_STATUS_NOT_SUPPORTED)                                                                   \
  X(CUDA_R_32F)                                                                                    \
  X(CUDA_R_16F)                                                                                    \
  X(CUDA_R_16BF)                                                                                   \
  X(CUDA_R_8F_E4M3)                                                                                \
  X(CUDA_R_8F_E5M2)                                                                                \
  X(CUBLAS_COMPUTE_32F)                                                                            \
  X(CUBLAS_COMPUTE_32F_FAST_TF32)                                                                  \
  X(CUBLAS_OP_N)                                                                                   \
  X(CUBLAS_OP_T)                                                                                   \
  X(CUBLASLT_MATMUL_DESC_TRANSA)                                                                   \
  X(CUBLASLT_MATMUL_DESC_TRANSB)                                                                   \
  X(CUBLASLT_MATMUL_DESC_EPILOGUE)                                                                 \
  X(CUBLASLT_MATMUL_DESC_BIAS_POINTER)                                                             \
  X(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER)                                                     \
  X(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD)                                                          \
  X(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER)                                                          \
  X(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER)                                                          \
  X(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE)                                                           \
  X(CUBLASLT_EPILOGUE_DEFAULT)                                                                     \
  X(CUBLASLT_EPILOGUE_RELU)                                                                        \
  X(CUBLASLT_EPILOGUE_BIAS)                                                                        \
  X(CUBLASLT_EPILOGUE_RELU_BIAS)                                                                   \
  X(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)                                                            \
  X(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)                                                   \
  X(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)                                                      \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)                                                    \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES)                                                    \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES)                                                    \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)                                                    \
  X(NVRTC_SUCCESS)                                                                                 \
  X(NVRTC_ERROR_COMPILATION)

namespace weir::cuda {
namespace {

/// What the binary interface says of a parameter or a result.
template <typename T> constexpr int kindOf() {
  int kind = std::is_pointer_v<T> ? 1 : std::is_floating_point_v<T> ? 2 : 3;
  return kind * 100 + int(sizeof(T));
}
template <typename Result, typename... Arguments>
std::vector<int> shapeOf(Result (*)(Arguments...)) {
  return {kindOf<Result>(), kindOf<Arguments>()...};
}

#define WEIR_CUDA_COMPARE(type, name, arguments)                                                   \
  {                                                                                                \
    using Ours = type(*) arguments;                                                                \
    using Theirs = decltype(&::name);                                                              \
    EXPECT_EQ(shapeOf(Ours()), shapeOf(Theirs())) << #name;                                        \
  }
TEST(CudaApi, TheDriversFunctions){WEIR_CUDA_DRIVER(WEIR_CUDA_COMPARE)} TEST(CudaApi,
                                                                             NvrtcsFunctions){
    WEIR_CUDA_NVRTC(WEIR_CUDA_COMPARE)} TEST(CudaApi, CublasLtsFunctions){
    WEIR_CUDA_CUBLASLT(WEIR_CUDA_COMPARE)}

TEST(CudaApi, Numbers) {
#define WEIR_CUDA_COMPARE_NUMBER(name) EXPECT_EQ(int(name), int(::name)) << #name;
  WEIR_CUDA_NUMBERS(WEIR_CUDA_COMPARE_NUMBER)
}

TEST(CudaApi, Structs) {
  EXPECT_EQ(sizeof(cublasLtMatmulAlgo_t), sizeof(::cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(cublasLtMatmulHeuristicResult_t), sizeof(::cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(cublasLtMatmulHeuristicResult_t, state),
            offsetof(::cublasLtMatmulHeuristicResult_t, state));
}

#ifdef NCCL_VERSION_CODE
TEST(CudaApi, Nccls) {
  WEIR_CUDA_NCCL(WEIR_CUDA_COMPARE)
#define WEIR_CUDA_NCCL_NUMBERS(X)                                                                  \
  X(ncclSuccess)                                                                                   \
  X(ncclUnhandledCudaError)                                                                        \
  X(ncclSystemError)                                                                               \
  X(ncclInternalError)                                                                             \
  X(ncclInvalidArgument)                                                                           \
  X(ncclInvalidUsage)                                                                              \
  X(ncclRemoteError)                                                                               \
  X(ncclInProgress)                                                                                \
  X(ncclUint8)
  WEIR_CUDA_NCCL_NUMBERS(WEIR_CUDA_COMPARE_NUMBER)
  ::ncclConfig_t usual = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(usual.magic, ncclConfigMagic);
  EXPECT_EQ(offsetof(ncclConfig_t, version), offsetof(::ncclConfig_t, version));
  EXPECT_EQ(offsetof(ncclConfig_t, blocking), offsetof(::ncclConfig_t, blocking));
  EXPECT_EQ(ncclConfigVersion, unsigned(NCCL_VERSION(2, 14, 0)));
}
#endif

} // namespace
} // namespace weir::cuda

#else

TEST(CudaApi, TheDriversFunctions) {
  GTEST_SKIP() << "no CUDA toolkit was found when this was built: nothing to compare with";
}

#endif
