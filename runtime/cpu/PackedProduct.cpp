//===- PackedProduct.cpp - A product of f32 by Weir's own kernel ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/PackedProduct.h"
#include <algorithm>
#include <immintrin.h>

/// Weir runs on no processor without these.
#define WEIR_AVX2 __attribute__((target("avx2,fma")))

namespace weir::cpu {
namespace {

constexpr int64_t panelRows = spec::Product::panelRows, panelColumns = spec::Product::panelColumns;
/// A panel of b of so many rows, 16 KiB, stays in the first cache, and the block of a in the
/// second.
constexpr int64_t blockRows = spec::Product::blockRows, blockDepth = spec::Product::blockDepth;
/// Floats that one packing task writes, about.
constexpr int64_t packGrain = 1 << 15;
constexpr int64_t lanes = 8;
/// How far ahead the kernel prefetches, in rows of a panel of b, 64 bytes each.
constexpr int64_t rowsAhead = 16;

/// What becomes of a sum before it is stored.
struct Finish {
  bool adds;         ///< to what C has of earlier blocks
  const float *bias; ///< of the columns; null: none
  bool relu;
};

/// Rows of eight floats, transposed to eight rows: 0 behind the `count` floats of each.
template <int64_t count>
WEIR_AVX2 inline void transpose8(const float *from, int64_t stride, float *to, int64_t toStride) {
  __m256 r[8], s[8];
  for (int i = 0; i < 8; ++i)
    r[i] = i < count ? _mm256_loadu_ps(from + i * stride) : _mm256_setzero_ps();
  for (int i = 0; i < 8; i += 2) {
    s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      r[i + 2 * j] = _mm256_shuffle_ps(s[i + j], s[i + j + 2], 0x44);
      r[i + 2 * j + 1] = _mm256_shuffle_ps(s[i + j], s[i + j + 2], 0xee);
    }
  for (int i = 0; i < 4; ++i)
    _mm256_storeu_ps(to + i * toStride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
  for (int i = 0; i < 4; ++i)
    _mm256_storeu_ps(to + (i + 4) * toStride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
}

/// A panel of b, `depth` rows of `panelColumns` columns, of which `columns` are b's; 0 behind them.
WEIR_AVX2 void packPanel(const float *b, int64_t row, int64_t column, int64_t depth,
                         int64_t columns, float *to) {
  int64_t k = 0;
  if (columns == panelColumns && column == 1) {
    for (; k < depth; ++k, to += panelColumns) {
      _mm256_store_ps(to, _mm256_loadu_ps(b + k * row));
      _mm256_store_ps(to + lanes, _mm256_loadu_ps(b + k * row + lanes));
    }
    return;
  }
  if (columns == panelColumns && row == 1)
    for (; k + 8 <= depth; k += 8)
      for (int64_t half = 0; half < 2; ++half)
        transpose8<lanes>(b + half * lanes * column + k, column,
                          to + k * panelColumns + half * lanes, panelColumns);
  for (; k < depth; ++k)
    for (int64_t j = 0; j < panelColumns; ++j)
      to[k * panelColumns + j] = j < columns ? b[k * row + j * column] : 0;
}

/// Rows of a in panels, each `depth` columns of `panelRows`; 0 behind the last row.
WEIR_AVX2 void packRows(const float *a, int64_t row, int64_t column, int64_t rows, int64_t depth,
                        float *to) {
  for (int64_t first = 0; first < rows; first += panelRows, to += panelRows * depth) {
    int64_t count = std::min(panelRows, rows - first), k = 0;
    const float *from = a + first * row;
    if (count == panelRows && column == 1)
      // Each of the eight stores writes two floats too many, which the next one overwrites.
      for (; k + lanes < depth; k += lanes)
        transpose8<panelRows>(from + k, row, to + k * panelRows, panelRows);
    else if (count == panelRows && row == 1)
      for (; k < depth; ++k) {
        const float *these = from + k * column;
        _mm_storeu_ps(to + k * panelRows, _mm_loadu_ps(these));
        _mm_storel_pi(reinterpret_cast<__m64 *>(to + k * panelRows + 4),
                      _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64 *>(these + 4)));
      }
    for (; k < depth; ++k)
      for (int64_t i = 0; i < panelRows; ++i)
        to[k * panelRows + i] = i < count ? from[i * row + k * column] : 0;
  }
}

WEIR_AVX2 inline __m256 finished(__m256 sum, const float *c, const Finish &finish, int64_t column) {
  if (finish.adds)
    sum = _mm256_add_ps(_mm256_loadu_ps(c), sum);
  if (finish.bias)
    sum = _mm256_add_ps(sum, _mm256_loadu_ps(finish.bias + column));
  if (finish.relu) // the second operand where one is NaN
    sum = _mm256_max_ps(_mm256_setzero_ps(), sum);
  return sum;
}

/// A panel of rows by `halves` eights of columns: the sums of `depth` products each.
template <int64_t halves>
WEIR_AVX2 inline void multiplyPanels(const float *a, const float *b, int64_t depth,
                                     __m256 (&sums)[panelRows][halves]) {
#pragma clang loop unroll(full)
  for (int i = 0; i < panelRows; ++i)
    for (int64_t half = 0; half < halves; ++half)
      sums[i][half] = _mm256_setzero_ps();
#pragma clang loop unroll_count(4)
  for (int64_t k = 0; k < depth; ++k, a += panelRows, b += panelColumns) {
    _mm_prefetch(b + rowsAhead * panelColumns, _MM_HINT_T0);
    __m256 right[halves];
    for (int64_t half = 0; half < halves; ++half)
      right[half] = _mm256_load_ps(b + half * lanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < panelRows; ++i) {
      __m256 factor = _mm256_broadcast_ss(a + i);
      for (int64_t half = 0; half < halves; ++half)
        sums[i][half] = _mm256_fmadd_ps(factor, right[half], sums[i][half]);
    }
  }
}

/// At the edges of C: by way of a whole panel.
template <int64_t halves>
WEIR_AVX2 void storeEdge(const __m256 (&sums)[panelRows][halves], float *c, int64_t stride,
                         int64_t rows, int64_t columns, const Finish &finish) {
  alignas(32) float whole[panelRows][panelColumns] = {}, bias[panelColumns] = {};
  Finish here = finish;
  if (finish.bias) {
    std::copy_n(finish.bias, columns, bias);
    here.bias = bias;
  }
  if (finish.adds)
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(c + i * stride, columns, whole[i]);
  for (int i = 0; i < panelRows; ++i)
    for (int64_t half = 0; half < halves; ++half) {
      float *to = whole[i] + half * lanes;
      _mm256_store_ps(to, finished(sums[i][half], to, here, half * lanes));
    }
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(whole[i], columns, c + i * stride);
}

template <int64_t halves>
WEIR_AVX2 void multiply(const float *a, const float *b, int64_t depth, float *c, int64_t stride,
                        int64_t rows, int64_t columns, const Finish &finish) {
  for (int64_t i = 0; i < rows; ++i) { // read and written once the sums are there
    _mm_prefetch(c + i * stride, _MM_HINT_T0);
    _mm_prefetch(c + i * stride + columns - 1, _MM_HINT_T0);
  }
  __m256 sums[panelRows][halves];
  multiplyPanels(a, b, depth, sums);
  if (rows < panelRows || columns < halves * lanes)
    return storeEdge(sums, c, stride, rows, columns, finish);
#pragma clang loop unroll(full)
  for (int i = 0; i < panelRows; ++i)
    for (int64_t half = 0; half < halves; ++half) {
      float *to = c + i * stride + half * lanes;
      _mm256_storeu_ps(to, finished(sums[i][half], to, finish, half * lanes));
    }
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a - 1) / b + 1; }
int64_t panelsOf(const spec::Product &spec) { return ceilDiv(spec.n, panelColumns); }
/// Panels that one packing task writes.
int64_t panelsOfTask(const spec::Product &spec) {
  return std::max<int64_t>(1, packGrain / (spec.k * panelColumns));
}

} // namespace

PackedProduct::PackedProduct(const spec::Product &spec) : spec(spec) {}

int64_t PackedProduct::packTasks() const { return ceilDiv(panelsOf(spec), panelsOfTask(spec)); }

void PackedProduct::pack(int64_t lo, int64_t hi, const Operands &operands) const {
  int64_t each = panelsOfTask(spec), last = std::min(hi * each, panelsOf(spec));
  for (int64_t panel = lo * each; panel < last; ++panel) {
    int64_t n = panel * panelColumns;
    packPanel(operands.b + n * spec.bColumn, spec.bRow, spec.bColumn, spec.k,
              std::min(panelColumns, spec.n - n), operands.packed + n * spec.k);
  }
}

void PackedProduct::runRows(int64_t m, int64_t rows, int64_t n, const Operands &operands,
                            float *block) const {
  int64_t endN = std::min(n + spec.tileN, spec.n);
  for (int64_t k = 0; k < spec.k; k += blockDepth) {
    int64_t depth = std::min(blockDepth, spec.k - k);
    bool isLast = k + depth == spec.k;
    packRows(operands.a + m * spec.aRow + k * spec.aColumn, spec.aRow, spec.aColumn, rows, depth,
             block);
    for (int64_t column = n; column < endN; column += panelColumns) {
      const float *panel = operands.packed + column * spec.k + k * panelColumns;
      int64_t columns = std::min(panelColumns, endN - column);
      Finish finish{k > 0, isLast && spec.bias ? operands.bias + column : nullptr,
                    isLast && spec.relu};
      auto *kernel = columns > lanes ? multiply<2> : multiply<1>;
      for (int64_t row = 0; row < rows; row += panelRows)
        kernel(block + row * depth, panel, depth, operands.c + (m + row) * spec.cRow + column,
               spec.cRow, std::min(panelRows, rows - row), columns, finish);
    }
  }
}

void PackedProduct::run(int64_t lo, int64_t hi, const Operands &operands,
                        std::byte *scratch) const {
  int64_t tilesN = ceilDiv(spec.n, spec.tileN);
  for (int64_t task = lo; task < hi; ++task) {
    int64_t first = task / tilesN * spec.tileM, end = std::min(first + spec.tileM, spec.m);
    for (int64_t m = first; m < end; m += blockRows)
      runRows(m, std::min(blockRows, end - m), task % tilesN * spec.tileN, operands,
              reinterpret_cast<float *>(scratch));
  }
}

} // namespace weir::cpu
