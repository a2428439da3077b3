//===- weir_attention_grad.h - Gradient of attention ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients with respect to queries, in the first launch, and with respect to keys and values.
// Needs weir_attention_tiles.h.
#pragma once

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
