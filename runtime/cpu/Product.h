//===- Product.h - Matrix products as tiles -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C[i] = op(A[i] B[i] + bias), or C[i] + A[i] B[i] when accumulating, in f32. The tiles of C are
// fixed by the plan, each is one one-thread primitive of oneDNN, so that no number of threads
// changes a bit.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_PRODUCT_H
#define WEIR_RUNTIME_CPU_PRODUCT_H

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::cpu {

/// artifact::Product without its places. Strides are elements; C's rows are contiguous; a batch
/// stride of 0 shares A or B.
struct ProductSpec {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t aBatch = 0, aRow = 0, aColumn = 0;
  int64_t bBatch = 0, bRow = 0, bColumn = 0;
  int64_t cBatch = 0, cRow = 0;
  bool bias = false, relu = false, accumulate = false;
  int64_t tileBatch = 1, tileM = 0, tileN = 0;

  auto operator<=>(const ProductSpec &) const = default;
};

/// Bytes of scratch that each worker needs. The compiler states it in the artifact; boundLibrary()
/// comes first.
size_t productScratch(const ProductSpec &spec);

class Product {
public:
  struct Operands {
    const float *a, *b;
    float *c;
    const float *bias; ///< null without bias
  };

  /// Makes the primitives, and what `workers` threads need to run them at once.
  Product(const ProductSpec &spec, int workers);
  ~Product();

  int64_t tasks() const;
  size_t scratch() const;

  /// Computes tiles [lo, hi). `scratch` is the worker's own, 64-byte aligned.
  void run(int64_t lo, int64_t hi, int worker, const Operands &operands, std::byte *scratch);

  /// oneDNN's name for the implementation of a full tile.
  const char *implementation() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace weir::cpu

#endif
