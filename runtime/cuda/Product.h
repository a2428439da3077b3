//===- Product.h - Matrix products by cuBLASLt ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// spec::Product is row-major, the library column-major: it is asked for the transposed product, the
// factors swapped.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_PRODUCT_H
#define WEIR_RUNTIME_CUDA_PRODUCT_H

#include "runtime/cuda/Libraries.h"
#include "runtime/spec/Product.h"
#include <memory>
#include <string>

namespace weir::cuda {

/// The library, opened, with the workspace that its calls share: they stand in one stream's order.
class Library {
public:
  static constexpr size_t workspaceBytes = 32 << 20;

  Library(const CublasLt &functions, CUdeviceptr workspace);
  ~Library();
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  /// Throws Failure{Exit::device}.
  void require(cublasStatus_t status, const std::string &doing) const;

  const CublasLt &functions;
  const CUdeviceptr workspace;
  cublasLtHandle_t handle = nullptr;
};

class Product {
public:
  /// Chooses how: the first algorithm that the library offers. Throws Failure: Exit::model for what
  /// it does not multiply.
  Product(const Library &library, const spec::Product &spec);
  ~Product() { release(); }
  Product(const Product &) = delete;
  Product &operator=(const Product &) = delete;

  struct Operands {
    CUdeviceptr a, b, c;
    CUdeviceptr bias; ///< 0 without
  };
  void run(const Operands &operands, CUstream stream) const;

private:
  void describe(const spec::Product &spec);
  void choose(const std::string &what);
  void release();

  const Library &library;
  const bool bias;
  const std::string what;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
};

} // namespace weir::cuda

#endif
