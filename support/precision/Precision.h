//===- Precision.h - What a program's products multiply -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `--precision` and a model's plan may name, and what a program and a checkpoint call it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PRECISION_PRECISION_H
#define WEIR_SUPPORT_PRECISION_PRECISION_H

#include "support/precision/Element.h"
#include <optional>
#include <string>

namespace weir {

enum class Precision : uint8_t { f32, bf16, f16, f8, f8_block, tf32 };

/// What a factor is scaled by ahead of being rounded once more than what is stored.
enum class Scales : uint8_t {
  none,    ///< it is not rounded again
  delayed, ///< the whole tensor by what the last steps have seen
  blocks   ///< each block of it by what it is itself
};

struct PrecisionRow {
  Precision precision;
  const char *name;
  Element stored;            ///< what products give is rounded to, and what is kept
  Element forward, backward; ///< what products multiply: the latter where it is a cotangent
  Scales scales;
};

constexpr PrecisionRow precisionRows[] = {
    {Precision::f32, "f32", Element::f32, Element::f32, Element::f32, Scales::none},
    {Precision::bf16, "bf16", Element::bf16, Element::bf16, Element::bf16, Scales::none},
    {Precision::f16, "f16", Element::f16, Element::f16, Element::f16, Scales::none},
    // Digits forward, range backward ("FP8 Formats for Deep Learning", Micikevicius et al., 2022).
    {Precision::f8, "f8", Element::bf16, Element::f8e4m3, Element::f8e5m2, Scales::delayed},
    // What is near each other needs less range ("DeepSeek-V3 Technical Report", 2024, 3.3.2).
    {Precision::f8_block, "f8_block", Element::bf16, Element::f8e4m3, Element::f8e4m3,
     Scales::blocks},
    // Nothing is rounded in memory: tensor cores read the first 19 bits of an f32.
    {Precision::tf32, "tf32", Element::f32, Element::f32, Element::f32, Scales::none},
};

static_assert([] {
  for (const PrecisionRow &row : precisionRows)
    if (&row != &precisionRows[size_t(row.precision)])
      return false;
  return true;
}());

constexpr const PrecisionRow &rowOf(Precision precision) {
  return precisionRows[size_t(precision)];
}
constexpr const char *nameOf(Precision precision) { return rowOf(precision).name; }

/// What is named so; nothing where that is none.
constexpr std::optional<Precision> precisionNamed(std::string_view name) {
  for (const PrecisionRow &row : precisionRows)
    if (name == row.name)
      return row.precision;
  return std::nullopt;
}

/// "f32, bf16, f16, f8, f8_block or tf32": what may be named.
inline std::string precisionOptions() {
  std::string text;
  for (const PrecisionRow &row : precisionRows)
    text += (&row == std::begin(precisionRows)     ? ""
             : &row == std::end(precisionRows) - 1 ? " or "
                                                   : ", ") +
            std::string(row.name);
  return text;
}

} // namespace weir

#endif
