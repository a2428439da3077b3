//===- Product.cpp - Matrix products by cuBLASLt ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Product.h"
#include "support/Error.h"
#include <span>

namespace weir::cuda {

Library::Library(const CublasLt &functions) : functions(functions) {
  require(functions.cublasLtCreate(&handle), "opening cuBLASLt");
}

Library::~Library() { functions.cublasLtDestroy(handle); }

void Library::require(cublasStatus_t status, const std::string &doing) const {
  if (status == CUBLAS_STATUS_SUCCESS)
    return;
  std::string remedy;
  if (status == CUBLAS_STATUS_NOT_INITIALIZED)
    remedy =
        ": it may be newer than the driver, or memory is short; name the folder of one that fits "
        "in WEIR_CUDA_LIBRARIES, or compile for no libraries (--target cuda+none)";
  throw Failure(Exit::device, doing + ": " + functions.cublasLtGetStatusString(status) + " (" +
                                  std::to_string(status) + ")" + remedy);
}

static int typeOf(Element element, const std::string &what) {
  switch (element) {
  case Element::f32:
    return CUDA_R_32F;
  case Element::bf16:
    return CUDA_R_16BF;
  case Element::f16:
    return CUDA_R_16F;
  case Element::f8e4m3:
    return CUDA_R_8F_E4M3;
  case Element::f8e5m2:
    return CUDA_R_8F_E5M2;
  default:
    throw Failure(Exit::model, "cuBLASLt does not serve a " + what + ": compile the model again");
  }
}

Product::Product(const Library &library, const spec::Product &spec, uint32_t alignment,
                 CUdeviceptr memory)
    : library(library), bias(spec.bias), scaled(spec.isScaled()), what(spec.describe()) {
  if (spec.isPacked())
    throw Failure(Exit::model, "cuBLASLt serves no " + what + ": compile the model again");
  try {
    describe(spec);
    if (scaled)
      for (int scale : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER})
        point(scale, memory);
    choose(alignment);
  } catch (...) {
    release();
    throw;
  }
}

void Product::release() {
  if (description)
    library.functions.cublasLtMatmulDescDestroy(description);
  for (cublasLtMatrixLayout_t layout : {left, right, result})
    if (layout)
      library.functions.cublasLtMatrixLayoutDestroy(layout);
}

void Product::describe(const spec::Product &spec) {
  const CublasLt &lt = library.functions;
  library.require(lt.cublasLtMatmulDescCreate(&description,
                                              spec.rounding == spec::FactorRounding::tf32
                                                  ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                  : CUBLAS_COMPUTE_32F,
                                              CUDA_R_32F),
                  what);
  auto set = [&](int attribute, auto value) {
    library.require(lt.cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value),
                    what);
  };
  auto batched = [&](cublasLtMatrixLayout_t layout, int64_t stride) {
    auto give = [&](int attribute, auto value) {
      library.require(lt.cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value),
                      what);
    };
    give(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(spec.batch));
    give(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  };
  // Of a row-major factor of `rows` x `columns`: its transpose, column-major, as it lies there or
  // as the transpose of that.
  auto factor = [&](cublasLtMatrixLayout_t &layout, Element element, int operation, int64_t rows,
                    int64_t columns, int64_t row, int64_t column, int64_t batch) {
    bool transposed = column != 1 && columns > 1;
    if (transposed && row != 1 && rows > 1)
      throw Failure(Exit::model, "cuBLASLt wants rows or columns side by side of a " + what +
                                     ": compile the model again");
    int64_t least = transposed ? rows : columns;
    int64_t stride = std::max(transposed ? column : row, least);
    library.require(lt.cublasLtMatrixLayoutCreate(&layout, typeOf(element, what),
                                                  transposed ? rows : columns,
                                                  transposed ? columns : rows, stride),
                    what);
    batched(layout, batch);
    set(operation, int32_t(transposed ? CUBLAS_OP_T : CUBLAS_OP_N));
  };
  factor(left, spec.rightElement(), CUBLASLT_MATMUL_DESC_TRANSA, spec.k, spec.n, spec.bRow,
         spec.bColumn, spec.bBatch);
  factor(right, spec.factors, CUBLASLT_MATMUL_DESC_TRANSB, spec.m, spec.k, spec.aRow, spec.aColumn,
         spec.aBatch);
  library.require(lt.cublasLtMatrixLayoutCreate(&result, typeOf(spec.result, what), spec.n, spec.m,
                                                std::max(spec.cRow, spec.n)),
                  what);
  batched(result, spec.cBatch);
  if (spec.bias && spec.added != spec.result)
    throw Failure(Exit::model, "cuBLASLt wants a bias of the result's type of a " + what +
                                   ": compile the model again");
  if (spec.bias || spec.relu)
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, int32_t(spec.bias && spec.relu ? CUBLASLT_EPILOGUE_RELU_BIAS
                                               : spec.bias            ? CUBLASLT_EPILOGUE_BIAS
                                                                      : CUBLASLT_EPILOGUE_RELU));
}

void Product::choose(uint32_t alignment) {
  const CublasLt &lt = library.functions;
  cublasLtMatmulPreference_t preference = nullptr;
  library.require(lt.cublasLtMatmulPreferenceCreate(&preference), what);
  size_t bytes = Library::workspaceBytes;
  cublasStatus_t status = lt.cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes);
  // Unless it is told, it takes 256 bytes for granted.
  for (int attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    if (status == CUBLAS_STATUS_SUCCESS)
      status = lt.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment,
                                                       sizeof alignment);
  // What it offers depends on the bias's alignment: any address that has no more than that.
  if (CUdeviceptr any = alignment; bias && status == CUBLAS_STATUS_SUCCESS)
    status = lt.cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &any,
                                               sizeof any);
  cublasLtMatmulHeuristicResult_t offers[8] = {};
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS)
    status =
        lt.cublasLtMatmulAlgoGetHeuristic(library.handle, description, left, right, result, result,
                                          preference, std::size(offers), offers, &count);
  lt.cublasLtMatmulPreferenceDestroy(preference);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED)
    library.require(status, what);
  for (const cublasLtMatmulHeuristicResult_t &offer : std::span(offers).first(count))
    if (offer.state == CUBLAS_STATUS_SUCCESS && offer.workspaceSize <= bytes) {
      algorithm = offer.algorithm;
      return;
    }
  throw Failure(Exit::device, "cuBLASLt offers no way to do a " + what +
                                  " on this device: compile for no libraries (--target cuda+none)");
}

void Product::point(int attribute, CUdeviceptr address) const {
  library.require(library.functions.cublasLtMatmulDescSetAttribute(description, attribute, &address,
                                                                   sizeof address),
                  what);
}

void Product::run(const Operands &operands, CUdeviceptr workspace, CUstream stream) const {
  const CublasLt &lt = library.functions;
  if (bias)
    point(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  if (scaled) {
    point(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.bScale);
    point(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.aScale);
  }
  float one = 1, zero = 0;
  auto at = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  library.require(lt.cublasLtMatmul(library.handle, description, &one, at(operands.b), left,
                                    at(operands.a), right, &zero, at(operands.c), result,
                                    at(operands.c), result, &algorithm, at(workspace),
                                    Library::workspaceBytes, stream),
                  what);
}

} // namespace weir::cuda
