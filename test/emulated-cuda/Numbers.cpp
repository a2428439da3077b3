//===- Numbers.cpp - The element types of products, to and from f32 -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Numbers.h"
#include "runtime/cuda/Api.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace weir::emulated {

using namespace cuda;

namespace {

/// A small format with an implicit leading bit and subnormal numbers.
struct Format {
  int exponentBits, mantissaBits;
  bool hasInfinity; ///< else only all ones is NaN
};

float decode(Format format, uint32_t bits) {
  uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
  uint32_t allOnes = (1u << format.exponentBits) - 1;
  uint32_t exponent = bits >> format.mantissaBits & allOnes;
  bool isNegative = bits >> (format.mantissaBits + format.exponentBits) & 1;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  float value;
  if (exponent == allOnes && format.hasInfinity)
    value =
        mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == allOnes && mantissa == (1u << format.mantissaBits) - 1)
    value = std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(float(mantissa), 1 - bias - format.mantissaBits);
  else
    value = std::ldexp(float(mantissa | 1u << format.mantissaBits),
                       int(exponent) - bias - format.mantissaBits);
  return isNegative ? -value : value;
}

/// Every value of a format, by its bits.
struct Table {
  Table(Format format, size_t count) : values(count) {
    for (size_t i = 0; i < count; ++i)
      values[i] = decode(format, uint32_t(i));
  }
  std::vector<float> values;
};

const float *tableOf(int type) {
  static const Table f16({5, 10, true}, 1 << 16), e4m3({4, 3, false}, 1 << 8),
      e5m2({5, 2, true}, 1 << 8);
  return (type == CUDA_R_16F ? f16 : type == CUDA_R_8F_E4M3 ? e4m3 : e5m2).values.data();
}

uint16_t toBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t toF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  float size = std::fabs(value);
  if (value != value)
    return uint16_t(sign | 0x7e00);
  if (size >= 65520.0f)
    return uint16_t(sign | 0x7c00);
  if (size < 0x1p-14f) // subnormal: multiples of 2^-24
    return uint16_t(sign | uint16_t(std::nearbyint(size * 0x1p24f)));
  uint32_t rounded = (bits & 0x7fffffff) + 0xfff + (bits >> 13 & 1);
  return uint16_t(sign | ((rounded - (112u << 23)) >> 13));
}

} // namespace

size_t elementBytes(int type) {
  switch (type) {
  case CUDA_R_32F:
    return 4;
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return 2;
  case CUDA_R_8F_E4M3:
  case CUDA_R_8F_E5M2:
    return 1;
  default:
    return 0;
  }
}

void toFloats(int type, const void *from, size_t stride, size_t count, float *to) {
  if (type == CUDA_R_32F) {
    auto *values = static_cast<const float *>(from);
    for (size_t i = 0; i < count; ++i)
      to[i] = values[i * stride];
  } else if (type == CUDA_R_16BF) {
    auto *values = static_cast<const uint16_t *>(from);
    for (size_t i = 0; i < count; ++i)
      to[i] = std::bit_cast<float>(uint32_t(values[i * stride]) << 16);
  } else if (type == CUDA_R_16F) {
    auto *values = static_cast<const uint16_t *>(from);
    const float *table = tableOf(type);
    for (size_t i = 0; i < count; ++i)
      to[i] = table[values[i * stride]];
  } else {
    auto *values = static_cast<const uint8_t *>(from);
    const float *table = tableOf(type);
    for (size_t i = 0; i < count; ++i)
      to[i] = table[values[i * stride]];
  }
}

void fromFloats(int type, const float *from, size_t count, void *to) {
  if (type == CUDA_R_32F) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  auto *values = static_cast<uint16_t *>(to);
  for (size_t i = 0; i < count; ++i)
    values[i] = type == CUDA_R_16BF ? toBf16(from[i]) : toF16(from[i]);
}

float roundToTf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000)
    return value;
  return std::bit_cast<float>((bits + 0x1000) & ~uint32_t(0x1fff));
}

} // namespace weir::emulated
