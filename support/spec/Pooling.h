//===- Pooling.h - Max pooling as a library call --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_POOLING_H
#define WEIR_SUPPORT_SPEC_POOLING_H

#include "support/spec/Footprint.h"
#include <compare>
#include <string_view>

namespace weir::spec {

/// The largest element of each window of every plane, f32, row-major:
///
///   input  [planes, size...]
///   output [planes, outSize...]
///
/// where outSize = (size - window) / strides + 1, rounded down; there are two
/// spatial dimensions and no padding. NaN is larger than all numbers, and of
/// equal elements the first is taken. Planes are cut into tiles of
/// `tilePlanes`, each computed on its own.
///
/// Operands: input, output.
struct Pooling {
  static constexpr std::string_view kind = "max_pooling";

  int64_t planes = 0;
  std::vector<int64_t> size, window, strides;
  int64_t tilePlanes = 0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("planes", self.planes);
    visit("size", self.size), visit("window", self.window), visit("strides", self.strides);
    visit("tile_planes", self.tilePlanes);
  }

  std::string check() const;
  std::vector<Footprint> footprints() const;
  Cost cost() const;
  std::string describe() const;
  std::string_view op() const { return "weir.max_pool"; }

  /// Of dimension 0 or 1.
  int64_t outSize(size_t i) const { return (size[i] - window[i]) / strides[i] + 1; }
  int64_t tiles() const { return (planes - 1) / tilePlanes + 1; }
  /// Elements of one plane of the input, and of one of the output.
  int64_t inputElements() const { return size[0] * size[1]; }
  int64_t outputElements() const { return outSize(0) * outSize(1); }

  auto operator<=>(const Pooling &) const = default;
};

} // namespace weir::spec

#endif
