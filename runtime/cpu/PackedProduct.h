//===- PackedProduct.h - A product of f32 by Weir's own kernel ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// spec::Product whose kernel is `packed`. The right operand is packed once, by all threads, into
// panels of 16 columns; then each tile of C packs blocks of its rows of the left operand, in panels
// of 6, and multiplies panels in registers (Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication", ACM TOMS 34 (2008)). oneDNN's one-thread products pack the right operand
// again for every tile, which takes a third of the time where the tiles have few rows.
//
// The sum of an element goes over blocks of 256 in order, and in a block from the first to the last
// with one rounding each: the bits depend on the product's sizes alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_PACKEDPRODUCT_H
#define WEIR_RUNTIME_CPU_PACKEDPRODUCT_H

#include "support/spec/Product.h"
#include <cstddef>
#include <cstdint>

namespace weir::cpu {

class PackedProduct {
public:
  explicit PackedProduct(const spec::Product &spec);

  struct Operands {
    const float *a, *b;
    float *c;
    const float *bias; ///< null without
    float *packed;     ///< spec::Product::packedElements() of them, 64-byte aligned
  };

  /// The first parallel loop: tasks [lo, hi) pack panels of b.
  int64_t packTasks() const;
  void pack(int64_t lo, int64_t hi, const Operands &operands) const;

  /// The second: tiles [lo, hi). `scratch` is the worker's own, of
  /// spec::Product::packedScratch() bytes, 64-byte aligned.
  int64_t tasks() const { return spec.tiles(); }
  void run(int64_t lo, int64_t hi, const Operands &operands, std::byte *scratch) const;

private:
  void runRows(int64_t m, int64_t rows, int64_t n, const Operands &operands, float *block) const;

  const spec::Product spec;
};

} // namespace weir::cpu

#endif
