//===- weir_block.h - Reductions over a block -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions over the threads of a block, in a fixed order. Every thread of the block calls them
// and gets the result. `threads` is a power of two from 32 to 1024. Those over a block use the
// first 128 bytes of the shared memory, those over warps 4 for each thread.
#pragma once

struct weir_sum {
  template <typename T> __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};
struct weir_largest {
  template <typename T> __device__ __forceinline__ T operator()(T a, T b) const {
    return weir_max(a, b);
  }
};
struct weir_smallest {
  template <typename T> __device__ __forceinline__ T operator()(T a, T b) const {
    return weir_min(a, b);
  }
};

template <int lanes, typename T, typename Combine>
__device__ __forceinline__ T weir_warp_reduce(T value, Combine combine) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

template <int threads, typename T, typename Combine>
__device__ __forceinline__ T weir_block_reduce(T value, Combine combine) {
  value = weir_warp_reduce<32>(value, combine);
  if (threads == 32)
    return value;
  static_assert(sizeof(T) <= 4, "128 bytes hold what 32 warps have");
  T *partial = reinterpret_cast<T *>(weir_shared);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[threadIdx.x % (threads / 32)];
  value = weir_warp_reduce<threads / 32>(value, combine);
  // Before the next reduction writes there.
  __syncthreads();
  return value;
}

template <int threads, typename T> __device__ __forceinline__ T weir_block_sum(T value) {
  return weir_block_reduce<threads>(value, weir_sum());
}
template <int threads, typename T> __device__ __forceinline__ T weir_block_max(T value) {
  return weir_block_reduce<threads>(value, weir_largest());
}
template <int threads, typename T> __device__ __forceinline__ T weir_block_min(T value) {
  return weir_block_reduce<threads>(value, weir_smallest());
}

// Of the threads that have one place in their warps.
template <int threads, typename T, typename Combine>
__device__ __forceinline__ T weir_warps_reduce(T value, Combine combine) {
  static_assert(sizeof(T) <= 4, "");
  T *all = reinterpret_cast<T *>(weir_shared), *own = all + threadIdx.x % 32;
  all[threadIdx.x] = value;
  __syncthreads();
  value = own[0];
#pragma unroll
  for (int warp = 1; warp < threads / 32; ++warp)
    value = combine(value, own[32 * warp]);
  __syncthreads();
  return value;
}

template <int threads, typename T> __device__ __forceinline__ T weir_warps_sum(T value) {
  return weir_warps_reduce<threads>(value, weir_sum());
}
template <int threads, typename T> __device__ __forceinline__ T weir_warps_max(T value) {
  return weir_warps_reduce<threads>(value, weir_largest());
}
template <int threads, typename T> __device__ __forceinline__ T weir_warps_min(T value) {
  return weir_warps_reduce<threads>(value, weir_smallest());
}
