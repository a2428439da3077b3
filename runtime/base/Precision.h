//===- Precision.h - What a program's products multiply -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `--precision` and a model's plan may name. Where a program or a file has one, it has the
// element of its forward factors: no two precisions share it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_PRECISION_H
#define WEIR_RUNTIME_BASE_PRECISION_H

#include "runtime/base/Element.h"
#include <optional>
#include <string>

namespace weir {

enum class Precision : uint8_t { f32, bf16, f16, f8 };

struct PrecisionRow {
  Precision precision;
  const char *name;
  Element stored;            ///< what products give is rounded to, and what is kept
  Element forward, backward; ///< what products multiply: the latter where it is a cotangent
};

constexpr PrecisionRow precisionRows[] = {
    {Precision::f32, "f32", Element::f32, Element::f32, Element::f32},
    {Precision::bf16, "bf16", Element::bf16, Element::bf16, Element::bf16},
    {Precision::f16, "f16", Element::f16, Element::f16, Element::f16},
    // Digits forward, range backward ("FP8 Formats for Deep Learning", Micikevicius et al., 2022).
    {Precision::f8, "f8", Element::bf16, Element::f8e4m3, Element::f8e5m2},
};

static_assert([] {
  for (const PrecisionRow &row : precisionRows) {
    if (&row != &precisionRows[size_t(row.precision)])
      return false;
    for (const PrecisionRow &other : precisionRows)
      if (&row != &other && row.forward == other.forward)
        return false;
  }
  return true;
}());

constexpr const PrecisionRow &rowOf(Precision precision) {
  return precisionRows[size_t(precision)];
}
constexpr const char *nameOf(Precision precision) { return rowOf(precision).name; }

/// Whether factors are rounded once more than what is stored, with a scale.
constexpr bool isScaled(Precision precision) {
  return rowOf(precision).forward != rowOf(precision).stored;
}

/// What is named so; nothing where that is none.
constexpr std::optional<Precision> precisionNamed(std::string_view name) {
  for (const PrecisionRow &row : precisionRows)
    if (name == row.name)
      return row.precision;
  return std::nullopt;
}

/// The one with these forward factors; nothing where there is none.
constexpr std::optional<Precision> precisionOf(Element forward) {
  for (const PrecisionRow &row : precisionRows)
    if (forward == row.forward)
      return row.precision;
  return std::nullopt;
}

/// "f32, bf16, f16 or f8": what may be named.
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
