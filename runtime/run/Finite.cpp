//===- Finite.cpp - What must not get into a checkpoint -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Finite.h"
#include "runtime/core/Text.h"
#include <algorithm>
#include <cmath>
#include <span>

namespace weir {
namespace {

std::span<const float> floats(const TensorView &variable) {
  if (variable.dtype != artifact::DType::f32)
    return {};
  return {reinterpret_cast<const float *>(variable.data), variable.size / sizeof(float)};
}

/// "'w' is nan at [3, 4]", or nothing.
std::optional<std::string> wordsFor(const TensorView &variable) {
  std::span<const float> values = floats(variable);
  auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end())
    return std::nullopt;
  std::vector<int64_t> place(variable.shape.size());
  int64_t index = bad - values.begin();
  for (size_t d = place.size(); d-- > 0; index /= variable.shape[d])
    place[d] = index % variable.shape[d];
  return concat("'", variable.name, "' is ",
                std::isnan(*bad) ? "nan"
                : *bad > 0       ? "inf"
                                 : "-inf",
                place.empty() ? "" : " at ", place.empty() ? "" : shapeText(place));
}

} // namespace

std::optional<std::string> Finite::begin(const std::vector<TensorView> &variables) {
  std::optional<std::string> first;
  for (const TensorView &variable : variables)
    if (auto words = wordsFor(variable)) {
      given.insert(variable.name);
      if (!first)
        first = words;
    }
  return first;
}

std::optional<std::string> Finite::broken(const std::vector<TensorView> &variables) const {
  for (const TensorView &variable : variables)
    if (!given.contains(variable.name))
      if (auto words = wordsFor(variable))
        return words;
  return std::nullopt;
}

} // namespace weir
