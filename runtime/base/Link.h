//===- Link.h - What joins two ranks --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_LINK_H
#define WEIR_RUNTIME_BASE_LINK_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// How fast a rank sends and gets what collectives move: each at so many bytes a second, both at
/// once, and what a collective takes besides.
struct Link {
  double bytesPerSecond = 10e9;
  double latency = 20e-6; ///< seconds

  bool operator==(const Link &) const = default;

  /// Of a collective in which a rank sends and gets so many bytes.
  double secondsOf(uint64_t sent, uint64_t got) const {
    return latency + double(std::max(sent, got)) / bytesPerSecond;
  }

  /// "50GB/s" or "50GB/s,5us": units as of memory sizes, per second, and s, ms, us or ns. Without a
  /// latency there is none. Nothing where it is no link.
  static std::optional<Link> parse(std::string_view text);

  /// As parse() takes it.
  std::string text() const;
};

/// How fast a device computes: floating-point operations and bytes of its memory a second. A kernel
/// takes the longer of both.
struct Rates {
  double flopsPerSecond = 0, bytesPerSecond = 0;

  bool operator==(const Rates &) const = default;

  double secondsOf(double flops, double bytes) const {
    return std::max(flops / flopsPerSecond, bytes / bytesPerSecond);
  }

  /// "400TFLOP/s,3.3TB/s". Nothing where it is not such.
  static std::optional<Rates> parse(std::string_view text);
};

} // namespace weir

#endif
