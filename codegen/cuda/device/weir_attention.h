//===- weir_attention.h - Attention in tiles ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax(scale q k^T) v: a block has a tile of queries, and goes over the keys that they see.
// Needs weir_attention_tiles.h.
#pragma once

// exp((score - most) within). Where factors are rounded, so may the difference be: one instruction
// less.
template <typename C>
__device__ __forceinline__ float weir_weight(float score, float most, float within) {
  within *= weir_log2e;
  return weir_ex2(C::factor::isRounded ? fmaf(score, within, -(most * within))
                                       : (score - most) * within);
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
