//===- Product.h - One product of cuBLASLt's, described and done --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_PRODUCT_H
#define WEIR_TEST_EMULATED_CUDA_PRODUCT_H

#include "test/emulated-cuda/Private.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::emulated {

/// A matrix in memory, column-major.
struct Layout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t stride = 0; ///< from column to column
  int32_t batch = 1;
  int64_t batchStride = 0;
};

struct Description {
  int computeType = 0, scaleType = 0;
  int32_t transA = cuda::CUBLAS_OP_N, transB = cuda::CUBLAS_OP_N;
  int32_t epilogue = cuda::CUBLASLT_EPILOGUE_DEFAULT;
  int32_t biasType = -1; ///< -1: that of the result
  uint64_t bias = 0;
  uint64_t aScale = 0, bScale = 0; ///< of factors of eight bits; 0: 1
};

/// D = epilogue(alpha op(A) op(B) + beta C); plain data, which a node keeps.
struct Product {
  Description description;
  Layout a, b, c, d;
  float alpha = 1, beta = 0;
  uint64_t aAt = 0, bAt = 0, cAt = 0, dAt = 0, workspace = 0;
  uint64_t workspaceBytes = 0; ///< what is used of it

  bool hasBias() const { return description.epilogue & 4; }
  bool hasRelu() const { return description.epilogue & 2; }
  int biasType() const { return description.biasType < 0 ? d.type : description.biasType; }
  uint64_t inner() const { return description.transA == cuda::CUBLAS_OP_N ? a.columns : a.rows; }
};

bool isF8(int type);
/// Of matrices, in bytes, where factors are of eight bits.
constexpr uint64_t alignmentOfF8 = 16;

/// CUBLAS_STATUS_SUCCESS, or why cuBLASLt would refuse it, in words as well. Memory is looked at
/// by rangesOf alone.
cuda::cublasStatus_t checkProduct(const Product &product, std::string &why);

/// All that it reads and writes.
std::vector<cuda::WeirEmulatedRange> rangesOf(const Product &product);

/// Does it, and leaves NaN in the workspace.
void runProduct(const Product &product);

} // namespace weir::emulated

#endif
