//===- weir_prims.h - What kernels use of the GPU beyond CUDA C++ ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels use of the GPU beyond plain CUDA C++. Inline assembly and vector accesses stand here
// alone: the stand-in for NVRTC has its own text under this name (test/emulated-cuda).
#pragma once

extern __shared__ __align__(16) unsigned char weir_shared[];

// `count` elements that one instruction moves; their bytes are a power of two, at most 16.
template <typename T, int count> struct __align__(sizeof(T) * count) weir_vec {
  T at[count];
  __device__ __forceinline__ T &operator[](int i) { return at[i]; }
  __device__ __forceinline__ const T &operator[](int i) const { return at[i]; }
};

// `from` and `to` are aligned to the vector's bytes.
template <typename T, int count>
__device__ __forceinline__ weir_vec<T, count> weir_load(const T *from) {
  return *reinterpret_cast<const weir_vec<T, count> *>(from);
}
template <typename T, int count>
__device__ __forceinline__ void weir_store(T *to, const weir_vec<T, count> &values) {
  *reinterpret_cast<weir_vec<T, count> *>(to) = values;
}
