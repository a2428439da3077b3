//===- Product.h - A matrix product as a library call ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_SPEC_PRODUCT_H
#define WEIR_RUNTIME_SPEC_PRODUCT_H

#include "runtime/spec/Footprint.h"
#include <array>
#include <compare>
#include <string_view>

namespace weir::spec {

/// C[i] = op(A[i] B[i] + bias) for i in [0, batch), op the identity or max(0, x), which keeps NaN.
/// A and B are of `factors`, f32 ones rounded to TF32 if `rounding` says so, C of `result`, the
/// bias of `added`; products and bias are summed up in f32, and what comes of it is rounded to the
/// result once. Strides are elements; a batch stride of 0 shares A or B among the batch; C's
/// columns are contiguous. Each tile (tileBatch x tileM x tileN of C) is computed on its own, in
/// whatever order: tiles are the plan's, so that no number of threads changes a bit.
///
/// Operands: a, b, c and, with `bias`, bias [n].
enum class FactorRounding { none, tf32 };

struct Product {
  static constexpr std::string_view kind = "product";
  static constexpr std::array<const char *, 2> roundingNames = {"none", "tf32"};

  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t aBatch = 0, aRow = 0, aColumn = 0;
  int64_t bBatch = 0, bRow = 0, bColumn = 0;
  int64_t cBatch = 0, cRow = 0;
  bool bias = false, relu = false;
  int64_t tileBatch = 1, tileM = 0, tileN = 0;
  Element factors = Element::f32, result = Element::f32, added = Element::f32;
  FactorRounding rounding = FactorRounding::none;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("batch", self.batch), visit("m", self.m), visit("n", self.n), visit("k", self.k);
    visit("a_batch", self.aBatch), visit("a_row", self.aRow), visit("a_column", self.aColumn);
    visit("b_batch", self.bBatch), visit("b_row", self.bRow), visit("b_column", self.bColumn);
    visit("c_batch", self.cBatch), visit("c_row", self.cRow);
    visit("bias", self.bias), visit("relu", self.relu);
    visit("tile_batch", self.tileBatch), visit("tile_m", self.tileM), visit("tile_n", self.tileN);
    visit("factors", self.factors, programElementNames);
    visit("result", self.result, programElementNames);
    visit("added", self.added, programElementNames);
    visit("rounding", self.rounding, roundingNames);
  }

  std::string check() const;
  std::vector<Footprint> footprints() const;
  Cost cost() const;
  std::string describe() const;
  std::string_view op() const { return "weir.matmul"; }

  int64_t tiles() const;

  auto operator<=>(const Product &) const = default;
};

} // namespace weir::spec

#endif
