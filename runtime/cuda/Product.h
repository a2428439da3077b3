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
#include "support/spec/Product.h"
#include <memory>
#include <string>

namespace weir::cuda {

/// The library, opened.
class Library {
public:
  /// Of the memory that the calls of one stream share.
  static constexpr size_t workspaceBytes = 32 << 20;

  explicit Library(const CublasLt &functions);
  ~Library();
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  /// Throws Failure{Exit::device}.
  void require(cublasStatus_t status, const std::string &doing) const;

  const CublasLt &functions;
  cublasLtHandle_t handle = nullptr;
};

class Product {
public:
  /// Chooses how: the first algorithm that the library offers for operands at multiples of
  /// `alignment` bytes, a power of two from 4 to 256. It is told of scales by their places, of
  /// which `memory` of the device is one. Throws Failure: Exit::model for what it does not
  /// multiply.
  Product(const Library &library, const spec::Product &spec, uint32_t alignment,
          CUdeviceptr memory);
  ~Product() { release(); }
  Product(const Product &) = delete;
  Product &operator=(const Product &) = delete;

  struct Operands {
    CUdeviceptr a, b, c;
    CUdeviceptr bias;           ///< 0 without
    CUdeviceptr aScale, bScale; ///< the same
  };
  void run(const Operands &operands, CUdeviceptr workspace, CUstream stream) const;

private:
  void describe(const spec::Product &spec);
  void choose(uint32_t alignment);
  void point(int attribute, CUdeviceptr address) const;
  void release();

  const Library &library;
  const bool bias, scaled;
  const std::string what;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
};

} // namespace weir::cuda

#endif
