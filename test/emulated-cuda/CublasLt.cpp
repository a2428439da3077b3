//===- CublasLt.cpp - The stand-in's libcublasLt: its exported functions --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Numbers.h"
#include "test/emulated-cuda/Planted.h"
#include "test/emulated-cuda/Product.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <type_traits>

namespace weir::cuda {

extern "C" {
#define WEIR_EMULATED_DECLARE(type, name, arguments)                                               \
  __attribute__((visibility("default"))) type name arguments;
WEIR_CUDA_CUBLASLT(WEIR_EMULATED_DECLARE)
#undef WEIR_EMULATED_DECLARE
}

using emulated::Description;
using emulated::Layout;
using emulated::Product;

struct cublasLtContext {
  decltype(&weirEmulatedEnqueue) enqueue = nullptr;
  decltype(&weirEmulatedIsAllocated) isAllocated = nullptr;
};
struct cublasLtMatmulDescOpaque_t : Description {};
struct cublasLtMatrixLayoutOpaque_t : Layout {};
/// Of matrices, unless the heuristic is told otherwise.
constexpr uint32_t usualAlignment = 256;
struct cublasLtMatmulPreferenceOpaque_t {
  uint64_t workspaceBytes = 0;
  uint32_t alignment[4] = {usualAlignment, usualAlignment, usualAlignment, usualAlignment};
};

/// What an algorithm says of itself, in the first words of its data.
constexpr uint64_t algorithmMark = 0x5765697245;
/// Of the workspace that is offered, an algorithm takes this much.
constexpr uint64_t workspaceWanted = 64 << 10;

static cublasStatus_t refuse(cublasStatus_t status, const std::string &why) {
  std::fprintf(stderr, "emulated CUDA: cublasLtMatmul: %s\n", why.c_str());
  return status;
}

template <typename T> static cublasStatus_t set(T &field, const void *value, size_t bytes) {
  if (!value || bytes != sizeof field)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Handle, typename... Values>
static cublasStatus_t create(Handle *handle, const Values &...values) {
  if (!handle)
    return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new std::remove_pointer_t<Handle>{values...};
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

const char *cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_SUCCESS:
    return "CUBLAS_STATUS_SUCCESS";
  case CUBLAS_STATUS_NOT_INITIALIZED:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_NOT_SUPPORTED:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "an unknown status of cuBLAS";
  }
}

/// The driver's stand-in must have been opened: it is found by its soname.
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto find = [&](const char *name) { return library ? dlsym(library, name) : nullptr; };
  void *enqueue = find("weirEmulatedEnqueue"), *isAllocated = find("weirEmulatedIsAllocated");
  if (!enqueue || !isAllocated)
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "the emulated driver is not loaded");
  create(handle);
  (*handle)->enqueue = reinterpret_cast<decltype(&weirEmulatedEnqueue)>(enqueue);
  (*handle)->isAllocated = reinterpret_cast<decltype(&weirEmulatedIsAllocated)>(isAllocated);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description, int computeType,
                                        int scaleType) {
  Description made;
  made.computeType = computeType;
  made.scaleType = scaleType;
  return create(description, made);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, int attribute,
                                              const void *value, size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return set(description->transA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return set(description->transB, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return set(description->epilogue, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return set(description->bias, value, bytes);
  case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
    return set(description->aScale, value, bytes);
  case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
    return set(description->bScale, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return set(description->biasType, value, bytes);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, int type, uint64_t rows,
                                          uint64_t columns, int64_t stride) {
  Layout made;
  made.type = type;
  made.rows = rows;
  made.columns = columns;
  made.stride = stride;
  return create(layout, made);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, int attribute,
                                                const void *value, size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return set(layout->batch, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return set(layout->batchStride, value, bytes);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  return create(preference);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    int attribute, const void *value,
                                                    size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return set(preference->workspaceBytes, value, bytes);
  int operand = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (operand < 0 || operand > 3)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return set(preference->alignment[operand], value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t *results,
                                              int *found) {
  if (!handle || !description || !a || !b || !c || !d || wanted < 1 || !results || !found)
    return CUBLAS_STATUS_INVALID_VALUE;
  *found = 0;
  Product product;
  product.description = *description;
  product.a = *a, product.b = *b, product.c = *c, product.d = *d;
  std::string why;
  if (cublasStatus_t failed = emulated::checkProduct(product, why))
    return refuse(failed, why);
  constexpr int ofBias = 4; // that the epilogue adds one
  if (description->epilogue & ofBias && !description->bias)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "a bias whose place is not told");
  if (emulated::isPlanted("algorithm"))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (preference && emulated::isF8(a->type))
    for (uint32_t alignment : preference->alignment)
      if (alignment < emulated::alignmentOfF8)
        return refuse(CUBLAS_STATUS_NOT_SUPPORTED,
                      "matrices lie at multiples of 16 bytes where factors are of eight bits");
  cublasLtMatmulHeuristicResult_t result = {};
  if (wanted > 1 && emulated::isPlanted("first-state")) {
    result.state = CUBLAS_STATUS_NOT_SUPPORTED;
    results[(*found)++] = result;
    result.state = CUBLAS_STATUS_SUCCESS;
  }
  result.workspaceSize = std::min(preference ? preference->workspaceBytes : 0, workspaceWanted);
  result.algorithm.data[0] = algorithmMark;
  result.algorithm.data[1] = result.workspaceSize;
  for (int i = 0; i < 4; ++i)
    result.algorithm.data[2 + i] = preference ? preference->alignment[i] : usualAlignment;
  result.wavesCount = 1;
  results[(*found)++] = result;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t aLayout,
                              const void *b, cublasLtMatrixLayout_t bLayout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t cLayout, void *d,
                              cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t *algorithm,
                              void *workspace, size_t workspaceBytes, CUstream stream) {
  if (!handle || !description || !alpha || !beta || !aLayout || !bLayout || !cLayout || !dLayout)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto address = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
  Product product;
  product.description = *description;
  product.a = *aLayout, product.b = *bLayout, product.c = *cLayout, product.d = *dLayout;
  std::memcpy(&product.alpha, alpha, sizeof product.alpha);
  std::memcpy(&product.beta, beta, sizeof product.beta);
  product.aAt = address(a), product.bAt = address(b), product.cAt = address(c);
  product.dAt = address(d), product.workspace = address(workspace);
  std::string why;
  if (cublasStatus_t failed = emulated::checkProduct(product, why))
    return refuse(failed, why);
  if (algorithm && algorithm->data[0] != algorithmMark)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "an algorithm that no heuristic gave");
  product.workspaceBytes = algorithm ? algorithm->data[1] : 0;
  if (product.workspaceBytes > workspaceBytes || (product.workspaceBytes && !workspace))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "a workspace smaller than the algorithm's");
  if (product.workspaceBytes && product.workspace % 256)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "a workspace that is not aligned to 256 bytes");
  if (product.aAt == product.dAt || product.bAt == product.dAt)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "a result in the place of a factor");
  if (algorithm) {
    uint64_t places[] = {product.aAt, product.bAt, product.cAt, product.dAt};
    for (int i = 0; i < 4; ++i)
      if (places[i] % algorithm->data[2 + i])
        return refuse(CUBLAS_STATUS_INVALID_VALUE,
                      "a matrix that is less aligned than the heuristic was told");
  }
  for (auto [at, layout] :
       {std::pair(product.aAt, aLayout), {product.bAt, bLayout}, {product.dAt, dLayout}})
    if (at % emulated::elementBytes(layout->type))
      return refuse(CUBLAS_STATUS_INVALID_VALUE, "a matrix that is not aligned");
  std::vector<WeirEmulatedRange> ranges = emulated::rangesOf(product);
  for (const WeirEmulatedRange &range : ranges)
    if (!handle->isAllocated(range.address, range.bytes + (range.count - 1) * range.stride))
      return refuse(CUBLAS_STATUS_INVALID_VALUE,
                    "a matrix, bias or workspace that is not memory of one allocation");
  auto run = [](const void *data) {
    Product kept;
    std::memcpy(&kept, data, sizeof kept);
    emulated::runProduct(kept);
  };
  static_assert(std::is_trivially_copyable_v<Product>);
  std::string name = "a product of " + std::to_string(product.d.rows) + " x " +
                     std::to_string(product.d.columns) + " over " + std::to_string(product.inner());
  constexpr cublasStatus_t executionFailed = 13;
  return handle->enqueue(stream, name.c_str(), run, &product, sizeof product, ranges.data(),
                         ranges.size())
             ? executionFailed
             : CUBLAS_STATUS_SUCCESS;
}

} // extern "C"

} // namespace weir::cuda
