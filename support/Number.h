//===- Number.h - Numbers as text -----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_NUMBER_H
#define WEIR_SUPPORT_NUMBER_H

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

namespace weir {

/// The shortest of %.9g, which brings every float back exactly; "null" where JSON has no word for
/// the value.
inline std::string jsonNumber(double value) {
  if (!std::isfinite(value))
    return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// The fewest digits that bring the value back exactly: two that differ read differently.
inline std::string shortest(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// "54,000"; `value` is 0 or more.
inline std::string withThousands(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.0f", value);
  std::string_view all = digits;
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && (all.size() - i) % 3 == 0)
      text += ',';
    text += all[i];
  }
  return text;
}

/// `format` is printf's, for one double.
inline std::string formatted(const char *format, double value) {
  char text[64];
  // Some processors' own nan has a sign.
  std::snprintf(text, sizeof text, format, std::isnan(value) ? std::fabs(value) : value);
  return text;
}

/// "0:31", "1:02:03".
inline std::string duration(double seconds) {
  long long all = seconds > 0 && seconds < 1e12 ? static_cast<long long>(seconds + 0.5) : 0;
  char text[40];
  if (all >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", all / 60, all % 60);
  return text;
}

} // namespace weir

#endif
