//===- weir_attention.h - Attention in tiles ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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

// exp((score - most) within). Where factors are rounded, so may the difference be: one instruction
// less.
template <typename C>
__device__ __forceinline__ float weir_weight(float score, float most, float within) {
  within *= weir_log2e;
  return weir_ex2(C::factor::isRounded ? fmaf(score, within, -(most * within))
                                       : (score - most) * within);
}

// The keys that the queries up to `last` see: those below.
template <typename C> __device__ __forceinline__ int weir_seen(int query) {
  int seen = query + (C::keys - C::queries + 1);
  return !C::isCausal || seen > C::keys ? C::keys : seen;
}

template <typename C, typename Cut, typename Query, typename Key, typename Value, typename Result,
          typename Total>
__device__ __forceinline__ void weir_attend(Query query, Key key, Value value, Result result,
                                            Total logSumExp) {
  typedef weir_tiles<C, Cut> T;
  typedef typename T::stored stored;
  constexpr int blocks = (C::queries + Cut::rows - 1) / Cut::rows;
  constexpr int ownSize = Cut::rows * T::pitch, otherSize = Cut::others * T::pitch;
  int head = blockIdx.x / blocks, batch = head / C::heads;
  // Those with the most to do first.
  int first = (blocks - 1 - int(blockIdx.x) % blocks) * Cut::rows;
  query.move(batch, head % C::heads);
  key.move(batch, head % C::heads);
  value.move(batch, head % C::heads);
  result.move(batch, head % C::heads);
  logSumExp.move(batch, head % C::heads);

  stored *own = reinterpret_cast<stored *>(weir_shared), *others = own + ownSize;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32 * (16 * Cut::groups);
  const stored *mine = own + warp * T::pitch;
  int end = weir_seen<C>(first + Cut::rows - 1);
  auto copyOthers = [&](int step) {
    stored *to = others + step % Cut::stages * (2 * otherSize);
    T::template copy<Cut::others>(to, key, step * Cut::others, C::keys);
    if (Result::isWanted)
      T::template copy<Cut::others>(to + otherSize, value, step * Cut::others, C::keys);
  };

  float sums[Cut::groups][T::width / 8][4], largest[Cut::groups][2], total[Cut::groups][2];
  weir_clear(sums);
#pragma unroll
  for (int i = 0; i < 2 * Cut::groups; ++i) {
    largest[i / 2][i % 2] = -__int_as_float(0x7f800000);
    total[i / 2][i % 2] = 0.0f;
  }
  // Scores are scaled within the exponential where that keeps their order.
  constexpr float before = C::scale > 0 ? 1.0f : C::scale, within = C::scale > 0 ? C::scale : 1.0f;

  T::template copy<Cut::rows>(own, query, first, C::queries);
  copyOthers(0);
  weir_cp_async_commit();
  for (int step = 0; step * Cut::others < end; ++step) {
    if (Cut::stages > 1) {
      if ((step + 1) * Cut::others < end)
        copyOthers(step + 1);
      weir_cp_async_commit();
    }
    weir_cp_async_wait<Cut::stages - 1>();
    __syncthreads();
    const stored *keys = others + step % Cut::stages * (2 * otherSize), *values = keys + otherSize;

    float scores[Cut::groups][Cut::others / 8][4];
    weir_clear(scores);
    T::multiply(scores, mine, keys);
    if (C::scale <= 0)
#pragma unroll
      for (int i = 0; i < Cut::groups * Cut::others / 2; ++i)
        scores[i / (Cut::others / 2)][i / 4 % (Cut::others / 8)][i % 4] *= before;
    if ((step + 1) * Cut::others > weir_seen<C>(first + warp)) {
#pragma unroll
      for (int i = 0; i < 2 * Cut::groups; ++i) {
        int seen = weir_seen<C>(first + warp + i * 8 + lane / 4);
#pragma unroll
        for (int n = 0; n < Cut::others / 4; ++n)
          if (step * Cut::others + n / 2 * 8 + lane % 4 * 2 + n % 2 >= seen)
            scores[i / 2][n / 2][i % 2 * 2 + n % 2] = -__int_as_float(0x7f800000);
      }
    }
#pragma unroll
    for (int i = 0; i < 2 * Cut::groups; ++i) {
      float most = largest[i / 2][i % 2];
#pragma unroll
      for (int n = 0; n < Cut::others / 4; ++n)
        most = fmaxf(most, scores[i / 2][n / 2][i % 2 * 2 + n % 2]);
      most = weir_quad_max(most);
      float shrink = weir_ex2((largest[i / 2][i % 2] - most) * (within * weir_log2e)), sum = 0.0f;
      largest[i / 2][i % 2] = most;
#pragma unroll
      for (int n = 0; n < Cut::others / 4; ++n) {
        float &score = scores[i / 2][n / 2][i % 2 * 2 + n % 2];
        score = weir_weight<C>(score, most, within);
        sum += score;
      }
      total[i / 2][i % 2] = fmaf(total[i / 2][i % 2], shrink, sum);
#pragma unroll
      for (int n = 0; n < T::width / 4; ++n)
        sums[i / 2][n / 2][i % 2 * 2 + n % 2] *= shrink;
    }
    if (Result::isWanted)
      T::accumulate(sums, scores, values);
    __syncthreads();
    if (Cut::stages == 1 && (step + 1) * Cut::others < end) {
      copyOthers(step + 1);
      weir_cp_async_commit();
    }
  }
#pragma unroll
  for (int i = 0; i < 2 * Cut::groups; ++i) {
    float &all = total[i / 2][i % 2];
    all = weir_quad_sum(all);
    int row = first + warp + i * 8 + lane / 4;
    if (lane % 4 == 0 && row < C::queries)
      logSumExp.store(row, 0, fmaf(largest[i / 2][i % 2], within, weir_lg2(all) * weir_ln2));
    all = 1.0f / all;
  }
  T::store(result, sums, first + warp, C::queries,
           [&](int group, int half) { return total[group][half]; });
}

// What gradients need of a query: its log-sum-exp, and the sum of its output times the cotangent.
// In memory [batch, head, query] with queries up to a multiple of 64, zeros at the end.
typedef weir_vec<float, 2> weir_of_query;
template <typename C> constexpr int weir_padded_queries = (C::queries + 63) / 64 * 64;

// Makes the totals, too, which weir_attend_grad_keys reads.
template <typename C, typename Cut, typename Query, typename Key, typename Value, typename Output,
          typename Total, typename Cotangent, typename QueryGrad>
__device__ __forceinline__ void
weir_attend_grad_queries(Query query, Key key, Value value, Output output, Total logSumExp,
                         Cotangent cotangent, weir_of_query *totals, QueryGrad queryGrad) {
  typedef weir_tiles<C, Cut> T;
  typedef typename T::stored stored;
  constexpr int blocks = (C::queries + Cut::rows - 1) / Cut::rows;
  constexpr int ownSize = Cut::rows * T::pitch, otherSize = Cut::others * T::pitch;
  int head = blockIdx.x / blocks, batch = head / C::heads;
  int first = (blocks - 1 - int(blockIdx.x) % blocks) * Cut::rows;
  query.move(batch, head % C::heads);
  key.move(batch, head % C::heads);
  value.move(batch, head % C::heads);
  output.move(batch, head % C::heads);
  logSumExp.move(batch, head % C::heads);
  cotangent.move(batch, head % C::heads);
  queryGrad.move(batch, head % C::heads);
  totals += head * weir_padded_queries<C>;

  stored *ownQueries = reinterpret_cast<stored *>(weir_shared),
         *ownCotangents = ownQueries + ownSize;
  stored *others = ownCotangents + ownSize;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32 * (16 * Cut::groups);
  int end = weir_seen<C>(first + Cut::rows - 1);
  auto copyOthers = [&](int step) {
    stored *to = others + step % Cut::stages * (2 * otherSize);
    T::template copy<Cut::others>(to, key, step * Cut::others, C::keys);
    T::template copy<Cut::others>(to + otherSize, value, step * Cut::others, C::keys);
  };

  if constexpr (QueryGrad::isWanted) {
    T::template copy<Cut::rows>(ownQueries, query, first, C::queries);
    T::template copy<Cut::rows>(ownCotangents, cotangent, first, C::queries);
    copyOthers(0);
    weir_cp_async_commit();
  }
  weir_of_query of[2 * Cut::groups];
#pragma unroll
  for (int i = 0; i < 2 * Cut::groups; ++i) {
    int row = first + warp + i * 8 + lane / 4;
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < T::width / 4; ++n) {
      int column = n / 2 * 8 + lane % 4 * 2 + n % 2;
      if (row < C::queries && column < C::width)
        sum = fmaf(output.load(row, column), cotangent.load(row, column), sum);
    }
    of[i][0] = row < C::queries ? logSumExp.load(row, 0) : 0.0f;
    of[i][1] = weir_quad_sum(sum);
    if (lane % 4 == 0 && row < weir_padded_queries<C>)
      weir_store(reinterpret_cast<float *>(totals + row), of[i]);
  }
  if (first + Cut::rows >= C::queries)
    for (int row = first + Cut::rows + threadIdx.x; row < weir_padded_queries<C>;
         row += Cut::threads)
      weir_store(reinterpret_cast<float *>(totals + row), weir_splat<float, 2>(0.0f));
  if constexpr (!QueryGrad::isWanted)
    return;

  float sums[Cut::groups][T::width / 8][4];
  weir_clear(sums);
  for (int step = 0; step * Cut::others < end; ++step) {
    if (Cut::stages > 1) {
      if ((step + 1) * Cut::others < end)
        copyOthers(step + 1);
      weir_cp_async_commit();
    }
    weir_cp_async_wait<Cut::stages - 1>();
    __syncthreads();
    const stored *keys = others + step % Cut::stages * (2 * otherSize), *values = keys + otherSize;

    float weights[Cut::groups][Cut::others / 8][4], slopes[Cut::groups][Cut::others / 8][4];
    weir_clear(weights);
    weir_clear(slopes);
    T::multiply(weights, ownQueries + warp * T::pitch, keys);
    T::multiply(slopes, ownCotangents + warp * T::pitch, values);
    bool isPartial = (step + 1) * Cut::others > weir_seen<C>(first + warp);
#pragma unroll
    for (int i = 0; i < 2 * Cut::groups; ++i) {
#pragma unroll
      for (int n = 0; n < Cut::others / 4; ++n) {
        float &slope = slopes[i / 2][n / 2][i % 2 * 2 + n % 2];
        float score = weights[i / 2][n / 2][i % 2 * 2 + n % 2];
        float weight = weir_ex2(fmaf(score, C::scale, -of[i][0]) * weir_log2e);
        slope = weight * (slope - of[i][1]);
      }
    }
    if (isPartial)
#pragma unroll
      for (int i = 0; i < 2 * Cut::groups; ++i) {
        int seen = weir_seen<C>(first + warp + i * 8 + lane / 4);
#pragma unroll
        for (int n = 0; n < Cut::others / 4; ++n)
          if (step * Cut::others + n / 2 * 8 + lane % 4 * 2 + n % 2 >= seen)
            slopes[i / 2][n / 2][i % 2 * 2 + n % 2] = 0.0f;
      }
    T::accumulate(sums, slopes, keys);
    __syncthreads();
    if (Cut::stages == 1 && (step + 1) * Cut::others < end) {
      copyOthers(step + 1);
      weir_cp_async_commit();
    }
  }
  T::store(queryGrad, sums, first + warp, C::queries, [](int, int) { return C::scale; });
}

template <typename C, typename Cut, typename Query, typename Key, typename Value,
          typename Cotangent, typename KeyGrad, typename ValueGrad>
__device__ __forceinline__ void
weir_attend_grad_keys(Query query, Key key, Value value, Cotangent cotangent,
                      const weir_of_query *totals, KeyGrad keyGrad, ValueGrad valueGrad) {
  typedef weir_tiles<C, Cut> T;
  typedef typename T::stored stored;
  constexpr int blocks = (C::keys + Cut::rows - 1) / Cut::rows, shift = C::keys - C::queries;
  constexpr int ownSize = Cut::rows * T::pitch, otherSize = Cut::others * T::pitch;
  // Their totals are behind the rows of queries and cotangents.
  constexpr int stageSize =
      2 * otherSize + Cut::others * int(sizeof(weir_of_query) / sizeof(stored));
  int head = blockIdx.x / blocks, batch = head / C::heads;
  int first = int(blockIdx.x) % blocks * Cut::rows;
  query.move(batch, head % C::heads);
  key.move(batch, head % C::heads);
  value.move(batch, head % C::heads);
  cotangent.move(batch, head % C::heads);
  keyGrad.move(batch, head % C::heads);
  valueGrad.move(batch, head % C::heads);
  totals += head * weir_padded_queries<C>;

  stored *ownKeys = reinterpret_cast<stored *>(weir_shared), *ownValues = ownKeys + ownSize;
  stored *others = KeyGrad::isWanted ? ownValues + ownSize : ownValues;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32 * (16 * Cut::groups);
  auto copyOthers = [&](int step) {
    stored *to = others + step % Cut::stages * stageSize;
    T::template copy<Cut::others>(to, query, step * Cut::others, C::queries);
    T::template copy<Cut::others>(to + otherSize, cotangent, step * Cut::others, C::queries);
    if (threadIdx.x < Cut::others / 2)
      weir_cp_async_16(reinterpret_cast<weir_of_query *>(to + 2 * otherSize) + threadIdx.x * 2,
                       totals + step * Cut::others + threadIdx.x * 2);
  };

  float keySums[KeyGrad::isWanted ? Cut::groups : 1][T::width / 8][4];
  float valueSums[ValueGrad::isWanted ? Cut::groups : 1][T::width / 8][4];
  weir_clear(keySums);
  weir_clear(valueSums);
  // No query before sees these keys.
  int begin = C::isCausal && first > shift ? (first - shift) / Cut::others : 0;

  T::template copy<Cut::rows>(ownKeys, key, first, C::keys);
  if (KeyGrad::isWanted)
    T::template copy<Cut::rows>(ownValues, value, first, C::keys);
  copyOthers(begin);
  weir_cp_async_commit();
  for (int step = begin; step * Cut::others < C::queries; ++step) {
    if (Cut::stages > 1) {
      if ((step + 1) * Cut::others < C::queries)
        copyOthers(step + 1);
      weir_cp_async_commit();
    }
    weir_cp_async_wait<Cut::stages - 1>();
    __syncthreads();
    const stored *queries = others + step % Cut::stages * stageSize,
                 *cotangents = queries + otherSize;
    const float *ofQueries = reinterpret_cast<const float *>(cotangents + otherSize);

    float weights[Cut::groups][Cut::others / 8][4];
    weir_clear(weights);
    T::multiply(weights, ownKeys + warp * T::pitch, queries);
    bool isPartial =
        C::isCausal && first + warp + 16 * Cut::groups - 1 > step * Cut::others + shift;
#pragma unroll
    for (int n = 0; n < Cut::others / 8; ++n) {
      // Log-sum-exp and sum of two neighbours.
      weir_vec<float, 4> of = weir_load<float, 4>(ofQueries + 2 * (n * 8 + lane % 4 * 2));
#pragma unroll
      for (int i = 0; i < 4 * Cut::groups; ++i) {
        float &weight = weights[i / 4][n][i % 4];
        weight = weir_ex2(fmaf(weight, C::scale, -of[i % 2 * 2]) * weir_log2e);
      }
    }
    if (isPartial)
#pragma unroll
      for (int i = 0; i < Cut::groups * Cut::others / 2; ++i) {
        int n = i / 4 % (Cut::others / 8), group = i / (Cut::others / 2);
        int row = first + warp + group * 16 + i / 2 % 2 * 8 + lane / 4;
        int column = step * Cut::others + n * 8 + lane % 4 * 2 + i % 2;
        if (row > column + shift)
          weights[group][n][i % 4] = 0.0f;
      }
    if constexpr (ValueGrad::isWanted)
      T::accumulate(valueSums, weights, cotangents);
    if constexpr (KeyGrad::isWanted) {
      float slopes[Cut::groups][Cut::others / 8][4];
      weir_clear(slopes);
      T::multiply(slopes, ownValues + warp * T::pitch, cotangents);
#pragma unroll
      for (int n = 0; n < Cut::others / 8; ++n) {
        weir_vec<float, 4> of = weir_load<float, 4>(ofQueries + 2 * (n * 8 + lane % 4 * 2));
#pragma unroll
        for (int i = 0; i < 4 * Cut::groups; ++i) {
          float &slope = slopes[i / 4][n][i % 4];
          slope = weights[i / 4][n][i % 4] * (slope - of[i % 2 * 2 + 1]);
        }
      }
      T::accumulate(keySums, slopes, queries);
    }
    __syncthreads();
    if (Cut::stages == 1 && (step + 1) * Cut::others < C::queries) {
      copyOthers(step + 1);
      weir_cp_async_commit();
    }
  }
  if constexpr (ValueGrad::isWanted)
    T::store(valueGrad, valueSums, first + warp, C::keys, [](int, int) { return 1.0f; });
  if constexpr (KeyGrad::isWanted)
    T::store(keyGrad, keySums, first + warp, C::keys, [](int, int) { return C::scale; });
}
