//===- SmallFloat.h - Floats of one and two bytes -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of binary interchange formats that C++ has no type of: IEEE 754's binary16, bfloat16,
// and the two of eight bits of the Open Compute Project's "OCP 8-bit Floating Point Specification".
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PRECISION_SMALLFLOAT_H
#define WEIR_SUPPORT_PRECISION_SMALLFLOAT_H

#include <cmath>
#include <cstdint>
#include <limits>

namespace weir {

/// A sign, then an exponent, then a significand without its leading one. Converts from and to
/// double; from one it rounds once, to nearest, ties to even. `infinite` formats take the highest
/// exponent for infinity and NaN. The others have NaN alone, as all ones: what is too large is NaN.
template <typename Storage, int exponentBits, int significandBits, bool infinite>
struct SmallFloat {
  static_assert(1 + exponentBits + significandBits == 8 * sizeof(Storage));
  static constexpr int bias = (1 << (exponentBits - 1)) - 1;
  static constexpr unsigned highest = (1u << exponentBits) - 1;
  static constexpr unsigned sign = 1u << (exponentBits + significandBits);
  static constexpr unsigned one = 1u << significandBits; ///< one step of the exponent
  static constexpr unsigned nan = infinite ? highest * one + one / 2 : sign - 1;
  /// What is not finite begins here.
  static constexpr unsigned over = infinite ? highest * one : nan;

  SmallFloat() = default;
  explicit SmallFloat(double value) {
    unsigned magnitude;
    if (std::isnan(value)) {
      magnitude = nan;
    } else if (std::isinf(value)) {
      magnitude = over;
    } else {
      // Of zero and of subnormal numbers the lowest; one more than the highest is too large.
      int exponent = value == 0 ? 1 - bias : std::ilogb(value);
      exponent = exponent < 1 - bias ? 1 - bias : exponent > bias + 1 ? bias + 1 : exponent;
      // Whole steps of this exponent; twice `one` of them are the next exponent's first number.
      double steps = std::nearbyint(std::scalbn(std::fabs(value), significandBits - exponent));
      double place = unsigned(exponent + bias - 1) * double(one) + steps;
      magnitude = place < over ? unsigned(place) : over;
    }
    bits = Storage(magnitude | (std::signbit(value) ? sign : 0));
  }

  explicit operator double() const {
    unsigned magnitude = bits & (sign - 1), exponent = magnitude / one, rest = magnitude % one;
    double value;
    if (magnitude > over || magnitude == nan)
      value = std::numeric_limits<double>::quiet_NaN();
    else if (magnitude == over)
      value = std::numeric_limits<double>::infinity();
    else if (exponent == 0)
      value = std::scalbn(double(rest), 1 - bias - significandBits);
    else
      value = std::scalbn(double(one + rest), int(exponent) - bias - significandBits);
    return bits & sign ? -value : value;
  }

  Storage bits = 0;
};

using Float16 = SmallFloat<uint16_t, 5, 10, true>;
using BFloat16 = SmallFloat<uint16_t, 8, 7, true>;
using Float8E4M3 = SmallFloat<uint8_t, 4, 3, false>;
using Float8E5M2 = SmallFloat<uint8_t, 5, 2, true>;

} // namespace weir

#endif
