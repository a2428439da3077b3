//===- LossScale.h - What a backward computation is multiplied by ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients that are too small for f16 are not lost where the loss is multiplied by a power of two
// ahead of the backward computation, and the gradients by its inverse behind it ("Mixed Precision
// Training", Micikevicius et al., 2018). A dynamic scale finds its own size: it doubles after so
// many steps without an overflow, and halves at each step with one, which is skipped.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PRECISION_LOSSSCALE_H
#define WEIR_SUPPORT_PRECISION_LOSSSCALE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

struct LossScale {
  static constexpr int32_t most = 1 << 24;       ///< the least is 1
  static constexpr int mostHalvings = 24;        ///< of the largest to 1
  static constexpr int32_t usualStart = 1 << 16; ///< of a dynamic one
  static constexpr int32_t goodSteps = 2000;     ///< without an overflow, before it doubles

  int32_t start = 0; ///< a power of two; 0: none. A scale that is not dynamic stays what it is
  bool dynamic = false;

  bool any() const { return start != 0; }
  bool operator==(const LossScale &) const = default;
};

/// Of "none", "1" (which is none), "1024", "dynamic" and "dynamic:1024"; nothing of anything else.
std::optional<LossScale> lossScaleNamed(std::string_view name);

/// The shortest of these names.
std::string nameOf(const LossScale &scale);

/// What may be named, as messages say it.
std::string lossScaleOptions();

} // namespace weir

#endif
