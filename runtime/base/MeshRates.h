//===- MeshRates.h - How fast the ranks of a mesh are ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ways to cut a program over a mesh are weighed by. It is a text wherever it is handed on, so
// that a plan that is made for a described machine is cut alike where only its file is known.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_MESHRATES_H
#define WEIR_RUNTIME_BASE_MESHRATES_H

#include "runtime/base/Link.h"
#include <map>

namespace weir {

/// What joins the members along an axis: bytes a second that each gets of the others, where all get
/// the same and where each gets its own, and seconds that an exchange takes besides.
struct AxisRates {
  double gather, exchange, latency;

  bool operator==(const AxisRates &) const = default;
};

struct MeshRates {
  /// Those of an accelerator of 2023 whose links join all ranks alike, where nothing is said.
  static constexpr Rates usual = {1e15, 3.3e12};
  static constexpr AxisRates usualLinks = {450e9, 450e9, 5e-6};

  Rates rank = usual;
  std::map<std::string, AxisRates, std::less<>> axes = {}; ///< of others: `usualLinks`

  bool operator==(const MeshRates &) const = default;

  AxisRates along(std::string_view axis) const {
    auto found = axes.find(axis);
    return found == axes.end() ? usualLinks : found->second;
  }

  /// "271TFLOP/s,1840GB/s,tp=235GB/s,235GB/s,5us": Rates, and for each axis its AxisRates. ""
  /// says nothing. Nothing where it is no such text.
  static std::optional<MeshRates> parse(std::string_view text);
  /// "", or why parse() does not take the text.
  static std::string wrong(std::string_view text);

  /// As parse() takes it, rounded.
  std::string text() const;
};

} // namespace weir

#endif
