//===- weir_product.h - Products in tiles ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C = A B. A block has a tile of C, whose sums are in its threads' registers, and goes along k:
// tiles of A and B come into shared memory, the next ones while those before are multiplied. Those
// that lie there as in memory, 16 bytes at a time, are copied asynchronously, others come through
// registers. Where C alone gives too few blocks, k is split among blocks, whose partial sums
// another launch adds in their order.
//
// A and B are *sides*: a line is a row of A or a column of B.
//   element            the type in memory (`stored`), and from and to f32
//   alongK, vector     elements side by side in memory are those along k, or of neighbouring lines;
//                      so many are aligned, and all of them there or none
//   line(i), k(i)      what is to be known of a line and of a k, also of those past the end
//   isThere(line, k)   whether the element is in memory; else it is zero
//   from, at(line, k)  where they begin, and how far from there it is
// C is a *sink*.
//   element, vector    as above, of neighbouring columns
//   at(row, column)    null past the end
//   finish(x, column)  what becomes of a sum
// All can be moved to a batch.
//
// The block's way to multiply (weir_fma, weir_mma) knows the tile's size, `factor`, how the tiles
// of A and B lie in shared memory, and who has which sums.
#pragma once

// A matrix at strides.
template <typename Element, int lines, int ks, int lineStride, int kStride, int batchStride,
          int vectorLength>
struct weir_matrix {
  typedef Element element;
  typedef typename Element::stored stored;
  typedef int line_place, k_place;
  static constexpr bool alongK = kStride == 1;
  static constexpr int vector = vectorLength;
  const stored *from;

  __device__ __forceinline__ void move(int batch) { from += batch * batchStride; }
  __device__ __forceinline__ int line(int i) const { return i < lines ? i * lineStride : -1; }
  __device__ __forceinline__ int k(int i) const { return i < ks ? i * kStride : -1; }
  static __device__ __forceinline__ bool isThere(int line, int k) { return (line | k) >= 0; }
  static __device__ __forceinline__ int at(int line, int k) { return line + k; }
};

// A row-major matrix, or a batch of them, side by side.
template <typename Element, int rows, int columns, int vectorLength> struct weir_matrix_sink {
  typedef Element element;
  typedef typename Element::stored stored;
  static constexpr int vector = vectorLength;
  stored *to;

  __device__ __forceinline__ void move(int batch) { to += batch * (rows * columns); }
  __device__ __forceinline__ stored *at(int row, int column) const {
    return row < rows && column < columns ? to + (row * columns + column) : nullptr;
  }
  __device__ __forceinline__ float finish(float x, int) const { return x; }
};

// Adds a bias of its columns to a sum on its way to another sink. What is no number remains.
template <typename Sink, typename Bias, bool isRelu> struct weir_biased_sink : Sink {
  const typename Bias::stored *bias;

  __device__ __forceinline__ weir_biased_sink(Sink sink, const typename Bias::stored *bias)
      : Sink(sink), bias(bias) {}
  __device__ __forceinline__ float finish(float x, int column) const {
    x += Bias::widen(bias[column]);
    return isRelu ? weir_max(x, 0.0f) : x;
  }
};

// `count` neighbours from a column on that is a multiple of it.
template <typename Sink, int count>
__device__ __forceinline__ void weir_put(const Sink &sink, int row, int column,
                                         const float (&sums)[count]) {
  constexpr int together = Sink::vector < count ? Sink::vector : count;
#pragma unroll
  for (int i = 0; i < count; i += together)
    if (typename Sink::stored *to = sink.at(row, column + i)) {
      weir_vec<typename Sink::stored, together> all;
#pragma unroll
      for (int j = 0; j < together; ++j)
        all[j] = Sink::element::narrow(sink.finish(sums[i + j], column + i + j));
      weir_store(to, all);
    }
}

// Products in f32: every thread has columns and rows by fours.
template <int rowCount, int columnCount, int rowsOfThread, int columnsOfThread> struct weir_fma {
  typedef float factor;
  static constexpr int rows = rowCount, columns = columnCount, depth = 16;
  static constexpr int threadsAcross = columns / columnsOfThread;
  static constexpr int threads = rows / rowsOfThread * threadsAcross;
  template <typename Element>
  static __device__ __forceinline__ float factorOf(typename Element::stored x) {
    return Element::widen(x);
  }

  // [k][line].
  template <bool alongK, int lines> struct layout {
    static constexpr int pitch = lines + 4, size = depth * pitch;
    static constexpr bool keepsNeighbours = !alongK;
    static __device__ __forceinline__ int at(int line, int k) { return k * pitch + line; }
    // From one line to the `number`-th after it, a multiple of eight.
    static __device__ __forceinline__ int between(int number) { return number; }
  };

  float sums[rowsOfThread][columnsOfThread / 4][4];

  __device__ __forceinline__ weir_fma() {
#pragma unroll
    for (int i = 0; i < rowsOfThread; ++i)
#pragma unroll
      for (int j = 0; j < columnsOfThread; ++j)
        sums[i][j / 4][j % 4] = 0.0f;
  }
  // Those of a thread from group to group are as far apart as the threads of a group reach.
  static __device__ __forceinline__ int row(int i) {
    return i / 4 * (rows / rowsOfThread * 4) + int(threadIdx.x) / threadsAcross * 4 + i % 4;
  }
  static __device__ __forceinline__ int column(int group) {
    return group * (threadsAcross * 4) + int(threadIdx.x) % threadsAcross * 4;
  }

  template <typename A, typename B>
  __device__ __forceinline__ void multiply(const float *a, const float *b) {
    typedef layout<A::alongK, rows> ofA;
    typedef layout<B::alongK, columns> ofB;
#pragma unroll 4
    for (int k = 0; k < depth; ++k) {
      weir_vec<float, 4> left[rowsOfThread / 4], right[columnsOfThread / 4];
#pragma unroll
      for (int i = 0; i < rowsOfThread / 4; ++i)
        left[i] = weir_load<float, 4>(a + ofA::at(row(4 * i), k));
#pragma unroll
      for (int j = 0; j < columnsOfThread / 4; ++j)
        right[j] = weir_load<float, 4>(b + ofB::at(column(j), k));
#pragma unroll
      for (int i = 0; i < rowsOfThread; ++i)
#pragma unroll
        for (int j = 0; j < columnsOfThread; ++j)
          sums[i][j / 4][j % 4] =
              fmaf(left[i / 4][i % 4], right[j / 4][j % 4], sums[i][j / 4][j % 4]);
    }
  }

  template <typename Sink>
  __device__ __forceinline__ void put(const Sink &sink, int firstRow, int firstColumn) const {
#pragma unroll
    for (int i = 0; i < rowsOfThread; ++i)
#pragma unroll
      for (int j = 0; j < columnsOfThread / 4; ++j)
        weir_put(sink, firstRow + row(i), firstColumn + column(j), sums[i][j]);
  }
};

// Products of bf16 or f16 (`Kind`) on tensor cores: every warp has a tile of its own.
template <typename Kind, int rowCount, int columnCount, int rowsOfWarp, int columnsOfWarp>
struct weir_mma {
  typedef unsigned short factor;
  static constexpr int rows = rowCount, columns = columnCount, depth = 32;
  static constexpr int warpsAcross = columns / columnsOfWarp;
  static constexpr int threads = 32 * (rows / rowsOfWarp) * warpsAcross;
  template <typename Element> static __device__ __forceinline__ factor factorOf(factor x) {
    return x;
  }

  // As in memory, by 16 bytes: what a matrix has of eight lines, or of eight k, and what eight
  // threads copy lies in different banks. Along k two lines fill the banks, and the 16 bytes of a
  // pair of lines change places; else a pitch is an odd number of 16 bytes.
  template <bool alongK, int lines> struct layout {
    static constexpr int pitch = alongK ? depth : lines + 8;
    static constexpr int size = (alongK ? lines : depth) * pitch;
    static constexpr bool keepsNeighbours = true;
    static __device__ __forceinline__ int at(int line, int k) {
      return alongK ? line * pitch + (k ^ line / 2 % 4 * 8) : k * pitch + line;
    }
    static __device__ __forceinline__ int between(int number) {
      return alongK ? number * pitch : number;
    }
  };

  float sums[rowsOfWarp / 16][columnsOfWarp / 8][4];

  __device__ __forceinline__ weir_mma() {
#pragma unroll
    for (int i = 0; i < rowsOfWarp / 16; ++i)
#pragma unroll
      for (int j = 0; j < columnsOfWarp / 8 * 4; ++j)
        sums[i][j / 4][j % 4] = 0.0f;
  }
  static __device__ __forceinline__ int row() {
    return int(threadIdx.x) / 32 / warpsAcross * rowsOfWarp;
  }
  static __device__ __forceinline__ int column() {
    return int(threadIdx.x) / 32 % warpsAcross * columnsOfWarp;
  }

  // Fragments of 16 lines and 16 of k, of A as weir_mma_m16n8k16 has it; of B for two products.
  template <typename Layout, bool alongK>
  static __device__ __forceinline__ void loadLeft(unsigned (&to)[4], const factor *tile, int line,
                                                  int k) {
    int lane = threadIdx.x % 32;
    tile += Layout::between(line);
    if constexpr (alongK)
      weir_ldmatrix_x4(to, tile + Layout::at(lane % 16, k + lane / 16 * 8));
    else
      weir_ldmatrix_x4_trans(to, tile + Layout::at(lane / 8 % 2 * 8, k + lane / 16 * 8 + lane % 8));
  }
  template <typename Layout, bool alongK>
  static __device__ __forceinline__ void loadRight(unsigned (&to)[4], const factor *tile, int line,
                                                   int k) {
    int lane = threadIdx.x % 32;
    tile += Layout::between(line);
    if constexpr (alongK)
      weir_ldmatrix_x4(to, tile + Layout::at(lane / 16 * 8 + lane % 8, k + lane / 8 % 2 * 8));
    else
      weir_ldmatrix_x4_trans(to, tile + Layout::at(lane / 16 * 8, k + lane % 16));
  }

  template <typename A, typename B>
  __device__ __forceinline__ void multiply(const factor *a, const factor *b) {
    typedef layout<A::alongK, rows> ofA;
    typedef layout<B::alongK, columns> ofB;
#pragma unroll
    for (int k = 0; k < depth; k += 16) {
      unsigned right[columnsOfWarp / 16][4];
#pragma unroll
      for (int j = 0; j < columnsOfWarp / 16; ++j)
        loadRight<ofB, B::alongK>(right[j], b, column() + 16 * j, k);
#pragma unroll
      for (int i = 0; i < rowsOfWarp / 16; ++i) {
        unsigned left[4];
        loadLeft<ofA, A::alongK>(left, a, row() + 16 * i, k);
#pragma unroll
        for (int j = 0; j < columnsOfWarp / 8; ++j)
          weir_mma_m16n8k16(Kind(), sums[i][j], left, right[j / 2][j % 2 * 2],
                            right[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  template <typename Sink>
  __device__ __forceinline__ void put(const Sink &sink, int firstRow, int firstColumn) const {
    int lane = threadIdx.x % 32;
    // Column by column: finding one may take more registers than there are for all.
#pragma unroll
    for (int j = 0; j < columnsOfWarp / 8; ++j)
#pragma unroll
      for (int i = 0; i < rowsOfWarp / 8; ++i) {
        float both[2] = {sums[i / 2][j][i % 2 * 2], sums[i / 2][j][i % 2 * 2 + 1]};
        weir_put(sink, firstRow + row() + i * 8 + lane / 4,
                 firstColumn + column() + j * 8 + lane % 4 * 2, both);
      }
  }
};

// A side's tiles on their way to shared memory. A thread is at one place along what lies side by
// side, and takes every `step`-th of the other direction. What is begun is there when it is
// finished and, if it is asynchronous, has been waited for.
template <typename T, typename Side, int lines> struct weir_tile_copy {
  typedef typename T::template layout<Side::alongK, lines> layout;
  typedef typename Side::stored stored;
  typedef typename T::factor factor;
  static constexpr int vector = Side::vector;
  static constexpr int length = (Side::alongK ? T::depth : lines) / vector;
  static constexpr int others = Side::alongK ? lines : T::depth;
  static constexpr int step = T::threads / length, count = (others + step - 1) / step;
  // An element of a factor's size is one.
  static constexpr bool isAsynchronous =
      layout::keepsNeighbours && sizeof(stored) == sizeof(factor) && sizeof(stored) * vector == 16;
  static_assert(T::threads % length == 0, "whole lines");

  __device__ __forceinline__ weir_tile_copy(const Side &side, int firstLine) : side(side) {
    if constexpr (Side::alongK) {
#pragma unroll
      for (int i = 0; i < count; ++i)
        places[i] = side.line(firstLine + other + i * step);
    } else {
      places[0] = side.line(firstLine + along);
    }
  }
  // From k on.
  __device__ __forceinline__ void begin(int k, factor *tile) {
    typename Side::k_place ofThread = side.k(k + along);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      int place = other + i * step;
      if (isPast(place))
        continue;
      typename Side::line_place line = places[Side::alongK ? i : 0];
      typename Side::k_place at = Side::alongK ? ofThread : side.k(k + place);
      bool isThere = side.isThere(line, at);
      if constexpr (isAsynchronous)
        weir_cp_async_16(tile + target(i, 0), side.from + (isThere ? side.at(line, at) : 0),
                         isThere);
      else if (isThere)
        held[i] = weir_load<stored, vector>(side.from + side.at(line, at));
      else
        held[i] = weir_splat<stored, vector>(0);
    }
  }
  __device__ __forceinline__ void finish(factor *tile) const {
    if constexpr (!isAsynchronous) {
#pragma unroll
      for (int i = 0; i < count; ++i)
        if (!isPast(other + i * step))
          put(tile, i);
    }
  }

private:
  static __device__ __forceinline__ bool isPast(int place) {
    return others % step != 0 && place >= others;
  }
  // Where the `j`-th neighbour of the thread's `i`-th goes.
  __device__ __forceinline__ int target(int i, int j) const {
    if constexpr (!Side::alongK)
      return layout::at(along + j, other + i * step);
    else if constexpr (step % 8 == 0)
      return layout::at(other, along + j) + layout::between(i * step);
    else
      return layout::at(other + i * step, along + j);
  }
  __device__ __forceinline__ void put(factor *tile, int i) const {
    weir_vec<factor, vector> factors;
#pragma unroll
    for (int j = 0; j < vector; ++j)
      factors[j] = T::template factorOf<typename Side::element>(held[i][j]);
    if constexpr (layout::keepsNeighbours) {
      weir_store(tile + target(i, 0), factors);
    } else {
#pragma unroll
      for (int j = 0; j < vector; ++j)
        tile[target(i, j)] = factors[j];
    }
  }

  const Side &side;
  const int along = int(threadIdx.x) % length * vector, other = int(threadIdx.x) / length;
  typename Side::line_place places[Side::alongK ? count : 1];
  weir_vec<stored, vector> held[count];
};

// C of rows x columns, and `ks` to sum up, in `splits` parts: a sink for each part then, those of a
// batch side by side. As many tiles of a side as there are `stages` are in shared memory.
template <typename T, int rows, int columns, int ks, int splits, int stages, typename A, typename B,
          typename Sink>
__device__ __forceinline__ void weir_multiply(A a, B b, Sink sink) {
  constexpr int rowTiles = (rows + T::rows - 1) / T::rows;
  constexpr int columnTiles = (columns + T::columns - 1) / T::columns;
  constexpr int steps = (ks + T::depth - 1) / T::depth;
  constexpr int stepsOfSplit = (steps + splits - 1) / splits;
  typedef weir_tile_copy<T, A, T::rows> copy_a;
  typedef weir_tile_copy<T, B, T::columns> copy_b;
  constexpr bool isAsynchronous = copy_a::isAsynchronous || copy_b::isAsynchronous;
  constexpr int sizeOfA = copy_a::layout::size, size = sizeOfA + copy_b::layout::size;

  // Blocks that run at the same time share columns of B.
  int row = int(blockIdx.x) % rowTiles * T::rows, rest = int(blockIdx.x) / rowTiles;
  int column = rest % columnTiles * T::columns;
  rest /= columnTiles;
  a.move(rest / splits);
  b.move(rest / splits);
  sink.move(rest);
  int step = rest % splits * stepsOfSplit;
  int end = step + stepsOfSplit < steps ? step + stepsOfSplit : steps;

  typename T::factor *tiles = reinterpret_cast<typename T::factor *>(weir_shared);
  copy_a copyA(a, row);
  copy_b copyB(b, column);
  T block;
#pragma unroll
  for (int stage = 0; stage < stages - 1; ++stage) {
    if (step + stage < end) {
      copyA.begin((step + stage) * T::depth, tiles + stage * size);
      copyB.begin((step + stage) * T::depth, tiles + stage * size + sizeOfA);
      copyA.finish(tiles + stage * size);
      copyB.finish(tiles + stage * size + sizeOfA);
    }
    if constexpr (isAsynchronous)
      weir_cp_async_commit();
  }
  int at = 0, free = (stages - 1) * size;
  for (; step < end; ++step) {
    if constexpr (isAsynchronous)
      weir_cp_async_wait<stages - 2>();
    // This step's tiles are there, and nobody multiplies those of the last one.
    __syncthreads();
    int next = step + stages - 1;
    if (next < end) {
      copyA.begin(next * T::depth, tiles + free);
      copyB.begin(next * T::depth, tiles + free + sizeOfA);
    }
    if constexpr (isAsynchronous)
      weir_cp_async_commit();
    block.template multiply<A, B>(tiles + at, tiles + at + sizeOfA);
    if (next < end) {
      copyA.finish(tiles + free);
      copyB.finish(tiles + free + sizeOfA);
    }
    free = at;
    at = at + size == stages * size ? 0 : at + size;
  }
  block.put(sink, row, column);
}

// A thread of `threads` has as many neighbours as the sink stores at once.
template <int threads, int batches, int rows, int columns, int splits, typename Sink>
__device__ __forceinline__ void weir_add_partial_sums(const float *partial, Sink sink) {
  constexpr int together = Sink::vector < 4 ? Sink::vector : 4;
  int at = (int(blockIdx.x) * threads + int(threadIdx.x)) * together;
  if (at >= batches * rows * columns)
    return;
  int batch = at / (rows * columns), place = at % (rows * columns);
  sink.move(batch);
  partial += batch * (splits * rows * columns) + place;
  float sums[together] = {};
#pragma unroll 8
  for (int i = 0; i < splits; ++i) {
    weir_vec<float, together> part = weir_load<float, together>(partial + i * (rows * columns));
#pragma unroll
    for (int j = 0; j < together; ++j)
      sums[j] += part[j];
  }
  weir_put(sink, place / columns, place % columns, sums);
}
