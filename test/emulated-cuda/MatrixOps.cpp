//===- MatrixOps.cpp - Products of fragments, and their loads ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync and ldmatrix as the PTX manual lays their fragments out: a lane is (g, t) = (lane / 4,
// lane % 4).
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Block.h"
#include "test/emulated-cuda/Meeting.h"
#include "test/emulated-cuda/Shadow.h"
#include <cmath>
#include <cstdio>

#define WEIR_EMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace weir::emulated {
extern "C" uint8_t weirEmulatedShared[];
namespace {

constexpr uint32_t wholeWarp = ~0u;

struct Fragments {
  float *d;
  const uint32_t *a;
  uint32_t b[2];
};

float ofBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

float ofBf16(uint32_t bits) { return ofBits(bits << 16); }

float ofF16(uint32_t bits) {
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float size = exponent == 31  ? (mantissa ? NAN : INFINITY)
               : exponent == 0 ? std::ldexp(float(mantissa), -24)
                               : std::ldexp(float(mantissa + 1024), int(exponent) - 25);
  return bits >> 15 & 1 ? -size : size;
}

/// d += a b of a 16 x k and a k x 8 matrix.
template <int k> void multiply(Meeting *lanes, float (&a)[16][k], float (&b)[k][8]) {
  for (int lane = 0; lane < 32; ++lane) {
    float *d = static_cast<Fragments *>(lanes[lane].data)->d;
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      float sum = d[i];
      for (int at = 0; at < k; ++at)
        sum += a[row][at] * b[at][column];
      d[i] = sum;
    }
  }
}

template <float (*widened)(uint32_t)> const char *multiplyHalves(Meeting *lanes, uint32_t) {
  float a[16][16], b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    auto *mine = static_cast<Fragments *>(lanes[lane].data);
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i)
      for (int half = 0; half < 2; ++half)
        a[g + i % 2 * 8][t * 2 + i / 2 * 8 + half] = widened(mine->a[i] >> 16 * half & 0xffff);
    for (int i = 0; i < 2; ++i)
      for (int half = 0; half < 2; ++half)
        b[t * 2 + i * 8 + half][g] = widened(mine->b[i] >> 16 * half & 0xffff);
  }
  multiply(lanes, a, b);
  return nullptr;
}

const char *multiplyTf32(Meeting *lanes, uint32_t) {
  auto kept = [](uint32_t bits) { return ofBits(bits & ~uint32_t(0x1fff)); };
  float a[16][8], b[8][8];
  for (int lane = 0; lane < 32; ++lane) {
    auto *mine = static_cast<Fragments *>(lanes[lane].data);
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i)
      a[g + i % 2 * 8][t + i / 2 * 4] = kept(mine->a[i]);
    for (int i = 0; i < 2; ++i)
      b[t + i * 4][g] = kept(mine->b[i]);
  }
  multiply(lanes, a, b);
  return nullptr;
}

struct Rows {
  uint32_t *to;
  const void *row;
};

template <bool transposes> const char *loadMatrices(Meeting *lanes, uint32_t) {
  for (int i = 0; i < 4; ++i) {
    uint16_t matrix[8][8];
    for (int row = 0; row < 8; ++row)
      std::memcpy(matrix[row], static_cast<Rows *>(lanes[8 * i + row].data)->row, 16);
    for (int lane = 0; lane < 32; ++lane) {
      int g = lane / 4, t = lane % 4;
      uint32_t low = transposes ? matrix[2 * t][g] : matrix[g][2 * t];
      uint32_t high = transposes ? matrix[2 * t + 1][g] : matrix[g][2 * t + 1];
      static_cast<Rows *>(lanes[lane].data)->to[i] = low | high << 16;
    }
  }
  return nullptr;
}

} // namespace

/// `kind`: 0 bf16, 1 f16, 2 tf32.
WEIR_EMULATED_EXPORT void weirEmulatedMma(int kind, float *d, const uint32_t *a, uint32_t b0,
                                          uint32_t b1, const char *file, int line) {
  static constexpr decltype(&multiplyTf32) works[] = {multiplyHalves<ofBf16>, multiplyHalves<ofF16>,
                                                      multiplyTf32};
  Fragments mine{d, a, {b0, b1}};
  Meeting meeting;
  meeting.mask = wholeWarp;
  meeting.work = works[kind];
  meeting.data = &mine;
  meet({"product of fragments", file, line}, meeting);
}

WEIR_EMULATED_EXPORT void weirEmulatedMisaligned(const void *p, unsigned bytes);

WEIR_EMULATED_EXPORT void weirEmulatedLoadMatrix(uint32_t *to, const void *row, int transposes,
                                                 const char *file, int line) {
  uint64_t address = reinterpret_cast<uint64_t>(row);
  if (address % 16)
    weirEmulatedMisaligned(row, 16);
  if (address - reinterpret_cast<uint64_t>(weirEmulatedShared) >= sharedLimit)
    failThread(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
               "loads a row of a matrix from elsewhere than the dynamic shared memory");
  shadowAccess(address, 16, Access::read, true);
  Rows mine{to, row};
  Meeting meeting;
  meeting.mask = wholeWarp;
  meeting.work = transposes ? loadMatrices<true> : loadMatrices<false>;
  meeting.data = &mine;
  meet({"load of matrices", file, line}, meeting);
}

} // namespace weir::emulated
