//===- weir_transpose.h - Matrices turned over ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block turns a tile of 64 x 64 elements over in shared memory, so that both what it reads and
// what it writes lies side by side.
#pragma once

constexpr int weir_turned_tile = 64;

// Tile `tile` of a matrix of rows x columns, row-major with `fromStride` elements from row to row,
// becomes that of its transpose, with `toStride`. An access reads `fromVector` elements and writes
// `toVector`, which divide sizes and strides. T has at most four bytes.
template <int threads, int rows, int columns, int fromStride, int toStride, int fromVector,
          int toVector, typename T>
__device__ __forceinline__ void weir_turn_over(int tile, const T *from, T *to) {
  constexpr int size = weir_turned_tile, together = 4 / sizeof(T);
  // Neighbours of a column lie in other banks.
  constexpr int pitch = size + together;
  // What one store to shared memory takes.
  constexpr int part = fromVector < together ? fromVector : together;
  T *shared = reinterpret_cast<T *>(weir_shared);
  constexpr int tilesAcross = (columns + size - 1) / size;
  int firstRow = tile / tilesAcross * size, firstColumn = tile % tilesAcross * size;
#pragma unroll
  for (int place = threadIdx.x; place < size * size / fromVector; place += threads) {
    int row = place / (size / fromVector), column = place % (size / fromVector) * fromVector;
    if (firstRow + row >= rows || firstColumn + column >= columns)
      continue;
    weir_vec<T, fromVector> read =
        weir_load<T, fromVector>(from + (firstRow + row) * fromStride + firstColumn + column);
#pragma unroll
    for (int i = 0; i < fromVector; i += part) {
      weir_vec<T, part> some;
#pragma unroll
      for (int j = 0; j < part; ++j)
        some[j] = read[i + j];
      weir_store<T, part>(shared + row * pitch + column + i, some);
    }
  }
  __syncthreads();
#pragma unroll
  for (int place = threadIdx.x; place < size * size / toVector; place += threads) {
    int column = place / (size / toVector), row = place % (size / toVector) * toVector;
    if (firstRow + row >= rows || firstColumn + column >= columns)
      continue;
    weir_vec<T, toVector> written;
#pragma unroll
    for (int i = 0; i < toVector; ++i)
      written[i] = shared[(row + i) * pitch + column];
    weir_store<T, toVector>(to + (firstColumn + column) * toStride + firstRow + row, written);
  }
}
