//===- Convolution.h - A convolution as a library call --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_CONVOLUTION_H
#define WEIR_SUPPORT_SPEC_CONVOLUTION_H

#include "support/spec/Footprint.h"
#include <array>
#include <compare>
#include <string_view>

namespace weir::spec {

/// Which of a convolution's tensors is computed from the other two. The input's gradient is also
/// the transposed convolution.
enum class ConvolutionKind { forward, backwardInput, backwardWeight };

/// A convolution over one to three spatial dimensions, row-major:
///
///   input  [images, channels, size...]
///   weight [filters, channels / groups, window...], the filters of a group side by side
///   output [images, filters, outSize...]
///
/// where outSize = (size + 2 padding - dilation (window - 1) - 1) / stride + 1; a dilation of 1 has
/// no gaps. Images are cut into tiles of `tileImages`, each computed on its own. A weight gradient
/// of several tiles has a partial sum for each, [tiles, weight...] in `partials`; they are added in
/// the order of the tiles. What is read is of `factors`, what is computed of `result`, rounded from
/// f32 once; partial sums are f32, and so is their sum.
///
/// Operands: input, weight, output (values or cotangents) and, where there are partial sums,
/// partials.
struct Convolution {
  static constexpr std::string_view kind = "convolution";
  static constexpr std::array<std::string_view, 3> kindNames = {"forward", "backward_input",
                                                                "backward_weight"};

  ConvolutionKind computes = ConvolutionKind::forward;
  int64_t images = 0, channels = 0, filters = 0, groups = 1;
  std::vector<int64_t> size, window, strides, padding, dilation;
  int64_t tileImages = 0;
  Element factors = Element::f32, result = Element::f32;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("computes", self.computes, kindNames);
    visit("images", self.images), visit("channels", self.channels);
    visit("filters", self.filters), visit("groups", self.groups);
    visit("size", self.size), visit("window", self.window), visit("strides", self.strides);
    visit("padding", self.padding), visit("dilation", self.dilation);
    visit("tile_images", self.tileImages);
    visit("factors", self.factors, programElementNames);
    visit("result", self.result, programElementNames);
  }

  std::string check() const;
  std::vector<Footprint> footprints() const;
  Cost cost() const;
  std::string describe() const;
  std::string_view op() const;

  std::vector<int64_t> outSize() const;
  int64_t tiles() const { return (images - 1) / tileImages + 1; }
  /// Of the tensor that this one computes: its own result, or what it reads.
  Element elementOf(ConvolutionKind tensor) const { return computes == tensor ? result : factors; }
  /// Whether there are partial sums.
  bool isPartial() const { return computes == ConvolutionKind::backwardWeight && tiles() > 1; }
  /// Elements of one image of the input, of the weight, and of one image of the output.
  int64_t imageElements() const;
  int64_t weightElements() const;
  int64_t outputElements() const;

  auto operator<=>(const Convolution &) const = default;
};

} // namespace weir::spec

#endif
