//===- LossScale.cpp - What a backward computation is multiplied by -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/precision/LossScale.h"
#include "support/Text.h"
#include <charconv>

namespace weir {

static constexpr std::string_view none = "none", dynamic = "dynamic";

/// A power of two from 1 to the largest scale.
static std::optional<int32_t> powerOfTwo(std::string_view text) {
  int32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = error == std::errc() && end == text.data() + text.size() && text[0] != '0';
  if (!whole || value < 1 || value > LossScale::most || (value & (value - 1)) != 0)
    return std::nullopt;
  return value;
}

std::optional<LossScale> lossScaleNamed(std::string_view name) {
  if (name == none)
    return LossScale{};
  if (name == dynamic)
    return LossScale{LossScale::usualStart, true};
  bool changes = name.starts_with(dynamic) && name.substr(dynamic.size()).starts_with(':');
  std::optional<int32_t> start = powerOfTwo(changes ? name.substr(dynamic.size() + 1) : name);
  if (!start)
    return std::nullopt;
  return changes ? LossScale{*start, true} : LossScale{*start == 1 ? 0 : *start, false};
}

std::string nameOf(const LossScale &scale) {
  if (!scale.any())
    return std::string(none);
  if (!scale.dynamic)
    return std::to_string(scale.start);
  return scale.start == LossScale::usualStart ? std::string(dynamic)
                                              : concat(dynamic, ":", scale.start);
}

std::string lossScaleOptions() {
  return concat("none, dynamic, dynamic:N or N, where N is a power of two up to ", LossScale::most);
}

} // namespace weir
