//===- weir_segment.h - Items by their segment -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block lists which of a window's items are in its segments, segment by segment and in the items'
// order. Each warp looks at a part of the window of its own, in order, twice: it counts, then it
// notes. All threads of a block call these functions together; `threads` is a multiple of 32. They
// use the first 4 (window + segments threads / 32 + 1) bytes of the shared memory.
#pragma once

template <int threads, int segments, int window> struct weir_segments {
  static constexpr int warps = threads / 32;
  // Of each segment, and in it of each warp: how many items, then where the next goes.
  static constexpr int places = segments * warps;

  static __device__ __forceinline__ int *items() { return reinterpret_cast<int *>(weir_shared); }
  static __device__ __forceinline__ int *place(int segment, int warp) {
    return items() + window + segment * warps + warp;
  }
};

template <int threads, int segments, int window>
__device__ __forceinline__ void weir_segment_clear() {
  typedef weir_segments<threads, segments, window> list;
  // The last window's list is read no more.
  __syncthreads();
  for (int i = threadIdx.x; i < list::places; i += threads)
    *list::place(0, i) = 0;
  __syncthreads();
}

// The segment of an item of the thread's, counted from the block's first: any number if it is none
// of the block's.
template <int threads, int segments, int window>
__device__ __forceinline__ void weir_segment_count(int segment) {
  typedef weir_segments<threads, segments, window> list;
  if (__ballot_sync(0xffffffffu, unsigned(segment) < unsigned(segments)) == 0)
    return;
#pragma unroll
  for (int i = 0; i < segments; ++i) {
    const unsigned found = __ballot_sync(0xffffffffu, segment == i);
    if (threadIdx.x % 32 == 0)
      *list::place(i, threadIdx.x / 32) += __popc(found);
  }
}

// After all of the window is counted: how many items the block's segments have there.
template <int threads, int segments, int window>
__device__ __forceinline__ int weir_segment_total() {
  typedef weir_segments<threads, segments, window> list;
  // Places that a lane of the first warp has, one after the other.
  constexpr int own = (list::places + 31) / 32;
  __syncthreads();
  if (threadIdx.x < 32) {
    int sum = 0;
#pragma unroll
    for (int i = 0; i < own; ++i)
      if (int(threadIdx.x) * own + i < list::places)
        sum += *list::place(0, threadIdx.x * own + i);
    int upTo = sum;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, upTo, distance);
      upTo += int(threadIdx.x) >= distance ? other : 0;
    }
    int next = upTo - sum;
#pragma unroll
    for (int i = 0; i < own; ++i)
      if (int(threadIdx.x) * own + i < list::places) {
        int *place = list::place(0, threadIdx.x * own + i);
        const int count = *place;
        *place = next;
        next += count;
      }
    if (threadIdx.x == 31)
      *list::place(0, list::places) = upTo;
  }
  __syncthreads();
  return *list::place(0, list::places);
}

// As weir_segment_count was called, with the item's number.
template <int threads, int segments, int window>
__device__ __forceinline__ void weir_segment_note(int segment, int item) {
  typedef weir_segments<threads, segments, window> list;
  if (__ballot_sync(0xffffffffu, unsigned(segment) < unsigned(segments)) == 0)
    return;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < segments; ++i) {
    const unsigned found = __ballot_sync(0xffffffffu, segment == i);
    int *place = list::place(i, threadIdx.x / 32);
    if (segment == i)
      list::items()[*place + __popc(found & ((1u << lane) - 1))] = item;
    __syncwarp();
    if (lane == 0)
      *place += __popc(found);
    __syncwarp();
  }
}

template <int threads, int segments, int window>
__device__ __forceinline__ void weir_segment_noted() {
  __syncthreads();
}

// Where the items of a segment end in the list, after all of the window is noted: the next
// segment's begin there.
template <int threads, int segments, int window>
__device__ __forceinline__ int weir_segment_end(int segment) {
  typedef weir_segments<threads, segments, window> list;
  return *list::place(segment, list::warps - 1);
}
template <int threads, int segments, int window>
__device__ __forceinline__ int weir_segment_item(int place) {
  return weir_segments<threads, segments, window>::items()[place];
}
