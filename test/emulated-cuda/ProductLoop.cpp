//===- ProductLoop.cpp - A product of two matrices in f32 ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/ProductLoop.h"
#include "support/system/CpuLevel.h"
#include <algorithm>

namespace weir::emulated {
namespace {

constexpr size_t blockOfK = 256; // one panel of each factor stays in the first cache

using Vector = float __attribute__((vector_size(4 * panelRows)));

/// One tile of c: 16 x 6, of which `rows` x `columns` are there, for a block of k.
inline __attribute__((always_inline)) void tile(size_t k, const float *a, const float *b, float *c,
                                                size_t stride, size_t rows, size_t columns) {
  Vector sums[panelColumns] = {};
  auto *column = reinterpret_cast<const Vector *>(a);
  for (size_t i = 0; i < k; ++i, b += panelColumns)
    for (size_t j = 0; j < panelColumns; ++j)
      sums[j] += column[i] * b[j];
  for (size_t j = 0; j < columns; ++j)
    for (size_t i = 0; i < rows; ++i)
      c[j * stride + i] += sums[j][i];
}

inline __attribute__((always_inline)) void loop(size_t m, size_t n, size_t k, const float *a,
                                                const float *b, float *c) {
  std::fill_n(c, m * n, 0.0f);
  for (size_t first = 0; first < k; first += blockOfK) {
    size_t depth = std::min(blockOfK, k - first);
    for (size_t j = 0; j < n; j += panelColumns)
      for (size_t i = 0; i < m; i += panelRows)
        tile(depth, a + (i * k + first * panelRows), b + (j * k + first * panelColumns),
             c + j * m + i, m, std::min(panelRows, m - i), std::min(panelColumns, n - j));
  }
}

using Loop = void (*)(size_t, size_t, size_t, const float *, const float *, float *);

void plainLoop(size_t m, size_t n, size_t k, const float *a, const float *b, float *c) {
  loop(m, n, k, a, b, c);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) void avx2Loop(size_t m, size_t n, size_t k, const float *a,
                                                  const float *b, float *c) {
  loop(m, n, k, a, b, c);
}
__attribute__((target("avx512f,avx2,fma"))) void
avx512Loop(size_t m, size_t n, size_t k, const float *a, const float *b, float *c) {
  loop(m, n, k, a, b, c);
}
#endif

Loop bestLoop() {
#ifdef __x86_64__
  if (cpuLevel() >= "x86-64-v4")
    return avx512Loop;
  if (cpuLevel() >= "x86-64-v3")
    return avx2Loop;
#endif
  return plainLoop;
}

} // namespace

void multiply(size_t m, size_t n, size_t k, const float *a, const float *b, float *c) {
  static const Loop best = bestLoop();
  best(m, n, k, a, b, c);
}

} // namespace weir::emulated
