//===- Numbers.h - Numbers as people read them --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_NUMBERS_H
#define WEIR_TOOLS_WEIR_NUMBERS_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace weir {

/// 1234567 as "1,234,567": sizes are compared by eye.
inline std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, 1, ',');
  return digits;
}

inline std::string fixed(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  return buffer;
}

/// A share of 0.125 with one decimal: "12.5%".
inline std::string percent(double share, int decimals) {
  return fixed(100 * share, decimals) + "%";
}

/// "1.23 s", or "12.345 ms".
inline std::string secondsText(double seconds) {
  return seconds >= 1 ? fixed(seconds, 2) + " s" : fixed(1e3 * seconds, 3) + " ms";
}

} // namespace weir

#endif
