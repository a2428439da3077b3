//===- Product.h - A matrix product as a library call ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_PRODUCT_H
#define WEIR_SUPPORT_SPEC_PRODUCT_H

#include "support/spec/Footprint.h"
#include <array>
#include <compare>
#include <string_view>

namespace weir::spec {

/// Of f32 factors, on their way to being multiplied.
enum class FactorRounding { none, tf32 };

/// B's elements where they are not A's.
enum class RightElement { same, f8e4m3, f8e5m2 };

/// What sums are multiplied with before anything is added: a number for each factor.
enum class FactorScales { none, each };

/// What multiplies: the device's library, or Weir's own kernel, for which B is packed first.
enum class ProductKernel { library, packed };

/// C[i] = op(s t A[i] B[i] + bias) for i in [0, batch), op the identity or max(0, x), which keeps
/// NaN, s and t numbers in memory, or 1. A is of `factors`, and so is B but where `right` names
/// others; f32 ones are rounded to TF32 if `rounding` says so. C is of `result`, the bias of
/// `added`; products and bias are summed up in f32, and what comes of it is rounded to the result
/// once. Strides are elements; a batch stride of 0 shares A or B among the batch; C's columns are
/// contiguous. Each tile (tileBatch x tileM x tileN of C) is computed on its own, in whatever
/// order: tiles are the plan's, so that no number of threads changes a bit.
///
/// Operands: a, b, c, with `bias` bias [n], with `scales` s and t, f32 each, and with the kernel
/// `packed` a workspace of packedElements() floats.
struct Product {
  static constexpr std::string_view kind = "product";
  static constexpr std::array<const char *, 2> roundingNames = {"none", "tf32"};
  static constexpr std::array<const char *, 3> rightNames = {"same", "f8e4m3", "f8e5m2"};
  static constexpr std::array<const char *, 2> scalesNames = {"none", "each"};
  static constexpr std::array<const char *, 2> kernelNames = {"library", "packed"};
  /// Of what is packed: panels of A's rows and of B's columns (a tile has whole panels of B), and
  /// the rows and the depth of the block of A that a worker packs at a time.
  static constexpr int64_t panelRows = 6, panelColumns = 16, blockRows = 144, blockDepth = 256;

  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t aBatch = 0, aRow = 0, aColumn = 0;
  int64_t bBatch = 0, bRow = 0, bColumn = 0;
  int64_t cBatch = 0, cRow = 0;
  bool bias = false, relu = false;
  int64_t tileBatch = 1, tileM = 0, tileN = 0;
  Element factors = Element::f32, result = Element::f32, added = Element::f32;
  FactorRounding rounding = FactorRounding::none;
  RightElement right = RightElement::same;
  FactorScales scales = FactorScales::none;
  ProductKernel kernel = ProductKernel::library;

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
    visit("right", self.right, rightNames);
    visit("scales", self.scales, scalesNames);
    visit("kernel", self.kernel, kernelNames);
  }

  std::string check() const;
  std::vector<Footprint> footprints() const;
  Cost cost() const;
  std::string describe() const;
  std::string_view op() const { return "weir.matmul"; }

  int64_t tiles() const;
  Element rightElement() const;
  bool isPacked() const { return kernel == ProductKernel::packed; }
  int64_t packedElements() const {
    return (n + panelColumns - 1) / panelColumns * panelColumns * k;
  }
  /// Bytes of a worker's block.
  int64_t packedScratch() const;
  bool isScaled() const { return scales != FactorScales::none; }
  /// The operand that is s, behind which t stands; how many operands there are where nothing is
  /// scaled.
  size_t scalesAt() const { return 3 + bias; }

  auto operator<=>(const Product &) const = default;
};

} // namespace weir::spec

#endif
