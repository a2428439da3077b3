//===- Api.h - What is used of CUDA's libraries ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The binary interface of the CUDA 13 driver, NVRTC, cuBLASLt and NCCL 2, as far as Weir calls it,
// so that building needs no CUDA toolkit and running needs the libraries only for CUDA artifacts.
// Each list is expanded by who opens the library (Libraries.h) and by the stand-ins of
// test/emulated-cuda. Where the toolkit is installed, test/runtime/cuda compares these declarations
// with its headers.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_API_H
#define WEIR_RUNTIME_CUDA_API_H

#include <cstddef>
#include <cstdint>

namespace weir::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 35,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_SYSTEM_NOT_READY = 802,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
  CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
};

// CUdevice_attribute
enum : int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

// CUfunction_attribute
enum : int {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum : unsigned {
  CU_STREAM_NON_BLOCKING = 1,
  CU_EVENT_DEFAULT = 0,
  CU_EVENT_DISABLE_TIMING = 2,
  CU_MEMHOSTALLOC_DEFAULT = 0,
};

// CUstreamCaptureMode
enum : int { CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1 };

/// Every function of the driver that is called, under the name it is exported by: type, name,
/// arguments.
#define WEIR_CUDA_DRIVER(X)                                                                        \
  X(CUresult, cuInit, (unsigned flags))                                                            \
  X(CUresult, cuDriverGetVersion, (int *version))                                                  \
  X(CUresult, cuGetErrorName, (CUresult error, const char **text))                                 \
  X(CUresult, cuDeviceGetCount, (int *count))                                                      \
  X(CUresult, cuDeviceGet, (CUdevice * device, int ordinal))                                       \
  X(CUresult, cuDeviceGetName, (char *name, int length, CUdevice device))                          \
  X(CUresult, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                  \
  X(CUresult, cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))                               \
  X(CUresult, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                    \
  X(CUresult, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                     \
  X(CUresult, cuCtxSetCurrent, (CUcontext context))                                                \
  X(CUresult, cuCtxSynchronize, ())                                                                \
  X(CUresult, cuMemGetInfo_v2, (size_t *available, size_t *total))                                 \
  X(CUresult, cuMemAlloc_v2, (CUdeviceptr * pointer, size_t bytes))                                \
  X(CUresult, cuMemFree_v2, (CUdeviceptr pointer))                                                 \
  X(CUresult, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))                      \
  X(CUresult, cuMemFreeHost, (void *pointer))                                                      \
  X(CUresult, cuMemcpyHtoDAsync_v2,                                                                \
    (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                             \
  X(CUresult, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))   \
  X(CUresult, cuMemcpyDtoDAsync_v2,                                                                \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                             \
  X(CUresult, cuMemsetD8Async,                                                                     \
    (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                          \
  X(CUresult, cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream stream))   \
  X(CUresult, cuStreamCreate, (CUstream * stream, unsigned flags))                                 \
  X(CUresult, cuStreamDestroy_v2, (CUstream stream))                                               \
  X(CUresult, cuStreamSynchronize, (CUstream stream))                                              \
  X(CUresult, cuStreamQuery, (CUstream stream))                                                    \
  X(CUresult, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                 \
  X(CUresult, cuEventCreate, (CUevent * event, unsigned flags))                                    \
  X(CUresult, cuEventRecord, (CUevent event, CUstream stream))                                     \
  X(CUresult, cuEventQuery, (CUevent event))                                                       \
  X(CUresult, cuEventSynchronize, (CUevent event))                                                 \
  X(CUresult, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))               \
  X(CUresult, cuEventDestroy_v2, (CUevent event))                                                  \
  X(CUresult, cuModuleLoadData, (CUmodule * module, const void *image))                            \
  X(CUresult, cuModuleUnload, (CUmodule module))                                                   \
  X(CUresult, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))     \
  X(CUresult, cuFuncSetAttribute, (CUfunction function, int attribute, int value))                 \
  X(CUresult, cuLaunchKernel,                                                                      \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,         \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **arguments,    \
     void **extra))                                                                                \
  X(CUresult, cuStreamBeginCapture_v2, (CUstream stream, int mode))                                \
  X(CUresult, cuStreamEndCapture, (CUstream stream, CUgraph * graph))                              \
  X(CUresult, cuGraphGetNodes, (CUgraph graph, void **nodes, size_t *count))                       \
  X(CUresult, cuGraphInstantiateWithFlags,                                                         \
    (CUgraphExec * executable, CUgraph graph, unsigned long long flags))                           \
  X(CUresult, cuGraphLaunch, (CUgraphExec executable, CUstream stream))                            \
  X(CUresult, cuGraphExecDestroy, (CUgraphExec executable))                                        \
  X(CUresult, cuGraphDestroy, (CUgraph graph))

using nvrtcResult = int;
using nvrtcProgram = struct _nvrtcProgram *;
enum : nvrtcResult {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_INTERNAL_ERROR = 11
};

#define WEIR_CUDA_NVRTC(X)                                                                         \
  X(const char *, nvrtcGetErrorString, (nvrtcResult result))                                       \
  X(nvrtcResult, nvrtcVersion, (int *major, int *minor))                                           \
  X(nvrtcResult, nvrtcCreateProgram,                                                               \
    (nvrtcProgram * program, const char *source, const char *name, int headers,                    \
     const char *const *headerTexts, const char *const *headerNames))                              \
  X(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram * program))                                    \
  X(nvrtcResult, nvrtcCompileProgram,                                                              \
    (nvrtcProgram program, int options, const char *const *texts))                                 \
  X(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t *size))                     \
  X(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram program, char *log))                            \
  X(nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram program, size_t *size))                          \
  X(nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram program, char *code))

using cublasStatus_t = int;
using cublasLtHandle_t = struct cublasLtContext *;
// The library's descriptors are opaque to those who create them by the library.
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque_t *;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque_t *;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t *;

enum : cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
};

// cudaDataType_t
enum : int {
  CUDA_R_32F = 0,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
  CUDA_R_8F_E4M3 = 28,
  CUDA_R_8F_E5M2 = 29,
};
// cublasComputeType_t
enum : int { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
// cublasOperation_t
enum : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

// cublasLtMatmulDescAttributes_t
enum : int {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
};
// cublasLtEpilogue_t
enum : int {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
};
// cublasLtMatrixLayoutAttribute_t
enum : int {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
};
// cublasLtMatmulPreferenceAttributes_t
enum : int {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
};

struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algorithm;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

#define WEIR_CUDA_CUBLASLT(X)                                                                      \
  X(const char *, cublasLtGetStatusString, (cublasStatus_t status))                                \
  X(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t * handle))                                   \
  X(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t handle))                                    \
  X(cublasStatus_t, cublasLtMatmulDescCreate,                                                      \
    (cublasLtMatmulDesc_t * description, int computeType, int scaleType))                          \
  X(cublasStatus_t, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t description))                 \
  X(cublasStatus_t, cublasLtMatmulDescSetAttribute,                                                \
    (cublasLtMatmulDesc_t description, int attribute, const void *value, size_t bytes))            \
  X(cublasStatus_t, cublasLtMatrixLayoutCreate,                                                    \
    (cublasLtMatrixLayout_t * layout, int type, uint64_t rows, uint64_t columns, int64_t stride))  \
  X(cublasStatus_t, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                  \
  X(cublasStatus_t, cublasLtMatrixLayoutSetAttribute,                                              \
    (cublasLtMatrixLayout_t layout, int attribute, const void *value, size_t bytes))               \
  X(cublasStatus_t, cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * preference))     \
  X(cublasStatus_t, cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))      \
  X(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute,                                          \
    (cublasLtMatmulPreference_t preference, int attribute, const void *value, size_t bytes))       \
  X(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,                                                \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,          \
     cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,                 \
     cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t *results,  \
     int *found))                                                                                  \
  X(cublasStatus_t, cublasLtMatmul,                                                                \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void *alpha, const void *a,  \
     cublasLtMatrixLayout_t aLayout, const void *b, cublasLtMatrixLayout_t bLayout,                \
     const void *beta, const void *c, cublasLtMatrixLayout_t cLayout, void *d,                     \
     cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t *algorithm, void *workspace,       \
     size_t workspaceBytes, CUstream stream))

using ncclResult_t = int;
using ncclComm_t = struct ncclComm *;
using ncclDataType_t = int;

enum : ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
};
enum : ncclDataType_t { ncclUint8 = 1 };

/// What the members of a communicator have alike, which one of them made.
struct ncclUniqueId {
  char internal[128];
};

/// As of NCCL 2.14, which later ones take: what has been added since is as usual.
struct ncclConfig_t {
  size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};
constexpr unsigned ncclConfigMagic = 0xcafebeef, ncclConfigVersion = 21400;

#define WEIR_CUDA_NCCL(X)                                                                          \
  X(const char *, ncclGetErrorString, (ncclResult_t result))                                       \
  X(const char *, ncclGetLastError, (ncclComm_t communicator))                                     \
  X(ncclResult_t, ncclGetVersion, (int *version))                                                  \
  X(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * id))                                            \
  X(ncclResult_t, ncclCommInitRankConfig,                                                          \
    (ncclComm_t * communicator, int members, ncclUniqueId id, int member, ncclConfig_t *config))   \
  X(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t communicator, ncclResult_t * error))          \
  X(ncclResult_t, ncclCommFinalize, (ncclComm_t communicator))                                     \
  X(ncclResult_t, ncclCommDestroy, (ncclComm_t communicator))                                      \
  X(ncclResult_t, ncclCommAbort, (ncclComm_t communicator))                                        \
  X(ncclResult_t, ncclGroupStart, ())                                                              \
  X(ncclResult_t, ncclGroupEnd, ())                                                                \
  X(ncclResult_t, ncclAllGather,                                                                   \
    (const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t communicator,       \
     CUstream stream))                                                                             \
  X(ncclResult_t, ncclSend,                                                                        \
    (const void *from, size_t count, ncclDataType_t type, int member, ncclComm_t communicator,     \
     CUstream stream))                                                                             \
  X(ncclResult_t, ncclRecv,                                                                        \
    (void *to, size_t count, ncclDataType_t type, int member, ncclComm_t communicator,             \
     CUstream stream))

} // namespace weir::cuda

#endif
