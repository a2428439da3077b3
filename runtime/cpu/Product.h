//===- Product.h - Matrix products as tiles -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// spec::Product with oneDNN: each tile is one one-thread primitive, so that no number of threads
// changes a bit. What is packed is multiplied by Weir's own kernel (PackedProduct.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_PRODUCT_H
#define WEIR_RUNTIME_CPU_PRODUCT_H

#include "support/spec/Product.h"
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::cpu {

/// Lets the library compile what it does not compile for a primitive, but for all at a process's
/// first product: 5.5 MiB of kernels where there is no AVX-512, which it calls without a look at
/// whether there was memory for them. Throws std::bad_alloc where there is none. Once a process.
void compileLibrary();

class Product {
public:
  struct Operands {
    const void *a, *b; ///< of the spec's factors
    void *c;           ///< of its result
    void *more[2];     ///< the bias where there is one, then packed b where it is packed
  };

  /// Makes the primitives, and what `workers` threads need to run them at once.
  Product(const spec::Product &spec, int workers);
  ~Product();

  int64_t tasks() const;
  size_t scratch() const;

  /// The parallel loop before the tiles, of what is packed; no tasks for all else.
  int64_t packTasks() const;
  void pack(int64_t lo, int64_t hi, const Operands &operands) const;

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
