//===- weir_attention_tiles.h - Tiles of attention ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attention and its gradient share: tensors at strides, factors of tensor cores, tiles in
// shared memory, and the keys that a query sees.
//
// softmax(scale q k^T) v and its gradient without a matrix of scores in memory (Dao et al., 2022,
// and Dao, 2023). A block has a tile of rows of its own, 16 at a time in each of its warps, and
// goes over tiles of other rows, which are copied while the ones before are worked on. Scores stay
// in registers, where the result fragments of one product are the left fragments of the next.
//
// With C the constants of the op:
//   forward    own q       others k, v    o = sum p v / sum p
//   dk, dv     own k, v    others q, do   dk = scale ds^T q, dv = p^T do
//   dq         own q, do   others k, v    dq = scale ds k
// where p = exp(score - the largest so far) forward, exp(score - log_sum_exp) backward, and
// ds = p (do v^T - d); d, the row sums of o do, comes from a launch before. No two blocks write one
// place, and sums have one order.
//
// Factors are what tensor cores multiply. Those in bf16 are multiplied as they are, and p and ds as
// sums of two bf16; those in f32 as sums of two TF32. Where the op lets factors be rounded, each of
// these sums is one number (`isExact` is false).
#pragma once

// A tensor [batch, head, row, column] of elements `Element` (their type in memory, and from and to
// f32) with these strides; without columns, the last is 0. `isVector`: rows
// have no gaps, and begin and end at multiples of 16 bytes, or of a pair of elements in a result.
template <typename Element, int batchStride, int headStride, int rowStride, int columnStride,
          bool isVectors, typename Stored>
struct weir_heads {
  typedef Element element;
  static constexpr bool isWanted = true, isVector = isVectors;
  static constexpr int rowsApart = rowStride;
  Stored *at;

  __device__ __forceinline__ void move(int batch, int head) {
    at += batch * batchStride + head * headStride;
  }
  __device__ __forceinline__ Stored *place(int row, int column) const {
    return at + (row * rowStride + column * columnStride);
  }
  __device__ __forceinline__ float load(int row, int column) const {
    return Element::widen(*place(row, column));
  }
  __device__ __forceinline__ void store(int row, int column, float value) const {
    *place(row, column) = Element::narrow(value);
  }
  // At an even column; `width` is the number of columns.
  __device__ __forceinline__ void store_pair(int row, int column, int width, float a,
                                             float b) const {
    if (isVector) {
      weir_vec<Stored, 2> both;
      both[0] = Element::narrow(a);
      both[1] = Element::narrow(b);
      if (column < width)
        weir_store(place(row, column), both);
      return;
    }
    if (column < width)
      store(row, column, a);
    if (column + 1 < width)
      store(row, column + 1, b);
  }
};

// A result that nobody reads.
struct weir_unwanted {
  static constexpr bool isWanted = false;
  __device__ __forceinline__ void move(int, int) {}
  __device__ __forceinline__ void store(int, int, float) const {}
  __device__ __forceinline__ void store_pair(int, int, int, float, float) const {}
};

// Factors: `step` of them are multiplied at once. `own` of fragments on the left are pairs of
// (16 rows, `step` columns), `other` of those on the right are two neighbours of (`step`, 8).

// What is computed on the way is the sum of two, or of one where that may be rounded.
template <bool isExact> struct weir_factor_of_bf16 {
  typedef unsigned short stored;
  static constexpr bool isRounded = !isExact;
  static constexpr int step = 16;
  struct left {
    unsigned high[4];
  };
  struct left_sum {
    unsigned high[4], low[4];
  };
  struct right {
    unsigned at[4];
  };

  template <typename Element> static __device__ __forceinline__ stored of(stored x) { return x; }

  static __device__ __forceinline__ left load_left(const stored *tile, int pitch) {
    left a;
    int lane = threadIdx.x % 32;
    weir_ldmatrix_x4(a.high, tile + lane % 16 * pitch + lane / 16 * 8);
    return a;
  }
  // Of scores, which are results of two products of 8 columns.
  static __device__ __forceinline__ left_sum sum_of(const float (*scores)[4]) {
    left_sum a;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float x = scores[i / 2][i % 2 * 2], y = scores[i / 2][i % 2 * 2 + 1];
      a.high[i] = weir_pack_bf16(x, y);
      if (isExact)
        a.low[i] = weir_pack_bf16(x - __uint_as_float(a.high[i] << 16),
                                  y - __uint_as_float(a.high[i] & 0xffff0000u));
    }
    return a;
  }
  // B[k][n] = tile[n][k], and tile[k][n].
  static __device__ __forceinline__ right load_rows(const stored *tile, int pitch) {
    right b;
    int lane = threadIdx.x % 32;
    weir_ldmatrix_x4(b.at, tile + (lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 8);
    return b;
  }
  static __device__ __forceinline__ right load_columns(const stored *tile, int pitch) {
    right b;
    int lane = threadIdx.x % 32;
    weir_ldmatrix_x4_trans(b.at, tile + lane % 16 * pitch + lane / 16 * 8);
    return b;
  }
  static __device__ __forceinline__ void multiply(float (&d)[4], const left &a, const right &b,
                                                  int n) {
    weir_mma_m16n8k16(weir_bf16(), d, a.high, b.at[2 * n], b.at[2 * n + 1]);
  }
  static __device__ __forceinline__ void multiply(float (&d)[4], const left_sum &a, const right &b,
                                                  int n) {
    if (isExact)
      weir_mma_m16n8k16(weir_bf16(), d, a.low, b.at[2 * n], b.at[2 * n + 1]);
    weir_mma_m16n8k16(weir_bf16(), d, a.high, b.at[2 * n], b.at[2 * n + 1]);
  }
};
typedef weir_factor_of_bf16<true> weir_factor_bf16;
typedef weir_factor_of_bf16<false> weir_factor_rounded_bf16;

// Sums of two TF32, or of one where factors may be rounded.
template <bool isExact> struct weir_factor_of_f32 {
  typedef float stored;
  static constexpr bool isRounded = !isExact;
  static constexpr int step = 8;
  struct left {
    unsigned high[4], low[4];
  };
  typedef left left_sum;
  struct right {
    unsigned high[4], low[4];
  };

  template <typename Element>
  static __device__ __forceinline__ float of(typename Element::stored x) {
    return Element::widen(x);
  }

  static __device__ __forceinline__ void split(unsigned x, unsigned &high, unsigned &low) {
    // The nearest where there is no other; NaN is of all ones.
    bool isRounded = !isExact && x << 1 <= 0xff000000u;
    high = (isRounded ? x + 0x1000u : x) & 0xffffe000u;
    low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high));
  }
  static __device__ __forceinline__ left load_left(const float *tile, int pitch) {
    left a;
    unsigned all[4];
    int lane = threadIdx.x % 32;
    weir_ldmatrix_x4(all, tile + lane % 16 * pitch + lane / 16 * 4);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      split(all[i], a.high[i], a.low[i]);
    return a;
  }
  // What is multiplied has an order of its own: columns 2t and 2t + 1 of the scores, which a lane
  // has, are t and t + 4 of the fragment. load_columns has the same.
  static __device__ __forceinline__ left sum_of(const float (*scores)[4]) {
    left a;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      split(__float_as_uint(scores[0][i % 2 * 2 + i / 2]), a.high[i], a.low[i]);
    return a;
  }
  static __device__ __forceinline__ right load_rows(const float *tile, int pitch) {
    right b;
    unsigned all[4];
    int lane = threadIdx.x % 32;
    weir_ldmatrix_x4(all, tile + (lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 4);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      split(all[i], b.high[i], b.low[i]);
    return b;
  }
  static __device__ __forceinline__ right load_columns(const float *tile, int pitch) {
    right b;
    int lane = threadIdx.x % 32;
    const float *at = tile + lane % 4 * 2 * pitch + lane / 4;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      split(__float_as_uint(at[i % 2 * pitch + i / 2 * 8]), b.high[i], b.low[i]);
    return b;
  }
  static __device__ __forceinline__ void multiply(float (&d)[4], const left &a, const right &b,
                                                  int n) {
    if (isExact) {
      weir_mma_m16n8k8_tf32(d, a.low, b.high[2 * n], b.high[2 * n + 1]);
      weir_mma_m16n8k8_tf32(d, a.high, b.low[2 * n], b.low[2 * n + 1]);
    }
    weir_mma_m16n8k8_tf32(d, a.high, b.high[2 * n], b.high[2 * n + 1]);
  }
};
typedef weir_factor_of_f32<true> weir_factor_f32;
typedef weir_factor_of_f32<false> weir_factor_tf32;

// How a launch is cut: a block of `warps` has 16 `groups` rows in each of its own, and goes over
// `others` rows at a time, in one of `stages` buffers.
template <int warpsOfBlock, int groupsOfWarp, int othersOfStep, int stagesOfLoop> struct weir_cut {
  static constexpr int warps = warpsOfBlock, groups = groupsOfWarp, others = othersOfStep,
                       stages = stagesOfLoop;
  static_assert(stages <= 2, "a tile is asked for one step before it is read");
  static constexpr int threads = 32 * warps, rows = 16 * groups * warps;
};

template <typename C, typename Cut> struct weir_tiles {
  typedef typename C::factor factor;
  typedef typename factor::stored stored;
  static constexpr int chunk = 16 / sizeof(stored); // elements of 16 bytes
  static constexpr int width = (C::width + 15) / 16 * 16;
  // An odd number of 16 bytes: eight rows, one below the other, lie in different banks.
  static constexpr int pitch = (width / chunk | 1) * chunk;

  // Rows from `first` on, of `count` that there are, to shared memory, and zeros for what there is
  // not.
  template <int rows, typename Heads>
  static __device__ __forceinline__ void copy(stored *to, const Heads &from, int first, int count) {
    if constexpr (Heads::isVector) {
      constexpr int chunks = width / chunk,
                    turns = (rows * chunks + Cut::threads - 1) / Cut::threads;
      // A thread's places then are at fixed distances: one address, plus constants.
      constexpr bool isEven = Cut::threads % chunks == 0 || chunks % Cut::threads == 0;
      int row = threadIdx.x / chunks, column = threadIdx.x % chunks * chunk;
      const stored *source = from.place(first + row, column);
#pragma unroll(isEven ? (turns < 16 ? turns : 8) : 4)
      for (int turn = 0; turn < turns; ++turn) {
        int i = threadIdx.x + turn * Cut::threads;
        if (rows * chunks % Cut::threads && i >= rows * chunks)
          break;
        if constexpr (isEven) {
          int down = turn * Cut::threads / chunks, right = turn * Cut::threads % chunks * chunk;
          weir_cp_async_16(to + row * pitch + column + (down * pitch + right),
                           source + (down * Heads::rowsApart + right),
                           first + row + down < count && column + right < C::width);
        } else {
          int its = i / chunks, mine = i % chunks * chunk;
          weir_cp_async_16(to + its * pitch + mine, from.place(first + its, mine),
                           first + its < count && mine < C::width);
        }
      }
    } else {
      for (int i = threadIdx.x; i < rows * width; i += Cut::threads) {
        int row = i / width, column = i % width;
        bool isThere = first + row < count && column < C::width;
        to[row * pitch + column] =
            isThere ? factor::template of<typename Heads::element>(*from.place(first + row, column))
                    : stored(0);
      }
    }
  }

  // scores += own other^T, of this warp's rows.
  static __device__ __forceinline__ void multiply(float (&scores)[Cut::groups][Cut::others / 8][4],
                                                  const stored *own, const stored *other) {
#pragma unroll
    for (int k = 0; k < width; k += factor::step) {
      typename factor::left a[Cut::groups];
#pragma unroll
      for (int g = 0; g < Cut::groups; ++g)
        a[g] = factor::load_left(own + g * 16 * pitch + k, pitch);
#pragma unroll
      for (int n = 0; n < Cut::others; n += 16) {
        typename factor::right b = factor::load_rows(other + n * pitch + k, pitch);
#pragma unroll
        for (int i = 0; i < 2 * Cut::groups; ++i)
          factor::multiply(scores[i / 2][n / 8 + i % 2], a[i / 2], b, i % 2);
      }
    }
  }

  // sums += scores other.
  static __device__ __forceinline__ void
  accumulate(float (&sums)[Cut::groups][width / 8][4],
             const float (&scores)[Cut::groups][Cut::others / 8][4], const stored *other) {
#pragma unroll
    for (int k = 0; k < Cut::others; k += factor::step) {
      typename factor::left_sum a[Cut::groups];
#pragma unroll
      for (int g = 0; g < Cut::groups; ++g)
        a[g] = factor::sum_of(&scores[g][k / 8]);
#pragma unroll
      for (int n = 0; n < width; n += 16) {
        typename factor::right b = factor::load_columns(other + k * pitch + n, pitch);
#pragma unroll
        for (int i = 0; i < 2 * Cut::groups; ++i)
          factor::multiply(sums[i / 2][n / 8 + i % 2], a[i / 2], b, i % 2);
      }
    }
  }

  // Of the warp's rows from `first` on, those below `count`, times `factorOf(group, half)`.
  template <typename Heads, typename Factor>
  static __device__ __forceinline__ void store(const Heads &to,
                                               const float (&sums)[Cut::groups][width / 8][4],
                                               int first, int count, Factor factorOf) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2 * Cut::groups; ++i) {
      int row = first + i * 8 + lane / 4;
      float times = factorOf(i / 2, i % 2);
      if (row < count)
#pragma unroll
        for (int n = 0; n < width / 8; ++n)
          to.store_pair(row, n * 8 + lane % 4 * 2, C::width, sums[i / 2][n][i % 2 * 2] * times,
                        sums[i / 2][n][i % 2 * 2 + 1] * times);
    }
  }
};

template <int a, int b> __device__ __forceinline__ void weir_clear(float (&values)[a][b][4]) {
#pragma unroll
  for (int i = 0; i < a * b * 4; ++i)
    values[i / (b * 4)][i / 4 % b][i % 4] = 0.0f;
}

// Over the four lanes that share rows of fragments.
__device__ __forceinline__ float weir_quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ __forceinline__ float weir_quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

constexpr float weir_log2e = 1.44269504f, weir_ln2 = 0.693147181f;

// The keys that the queries up to `last` see: those below.
template <typename C> __device__ __forceinline__ int weir_seen(int query) {
  int seen = query + (C::keys - C::queries + 1);
  return !C::isCausal || seen > C::keys ? C::keys : seen;
}
