//===- Sizes.h - Numbers of bytes as text -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SIZES_H
#define WEIR_SUPPORT_SIZES_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace weir {

/// "0.5 kB", "37.2 MB": by thousands, for people.
inline std::string bytesText(int64_t bytes) {
  char text[64];
  bool small = bytes < 1'000'000;
  std::snprintf(text, sizeof text, "%.1f %s", double(bytes) / (small ? 1e3 : 1e6),
                small ? "kB" : "MB");
  return text;
}

} // namespace weir

#endif
