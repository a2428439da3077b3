// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels use beyond plain CUDA C++, for the emulation: the same names as in
// codegen/cuda/device/weir_prims.h, which it takes the place of.
#pragma once

extern "C" __align__(16) unsigned char weirEmulatedShared[];
#define weir_shared weirEmulatedShared

template <typename T, int count> struct __align__(sizeof(T) * count) weir_vec {
  T at[count];
  __device__ __forceinline__ T &operator[](int i) { return at[i]; }
  __device__ __forceinline__ const T &operator[](int i) const { return at[i]; }
};

template <typename T, int count>
__device__ __forceinline__ weir_vec<T, count> weir_load(const T *from) {
  if ((unsigned long long)from % sizeof(weir_vec<T, count>))
    weirEmulatedMisaligned(from, sizeof(weir_vec<T, count>));
  return *reinterpret_cast<const weir_vec<T, count> *>(from);
}
template <typename T, int count>
__device__ __forceinline__ void weir_store(T *to, const weir_vec<T, count> &values) {
  if ((unsigned long long)to % sizeof(weir_vec<T, count>))
    weirEmulatedMisaligned(to, sizeof(weir_vec<T, count>));
  *reinterpret_cast<weir_vec<T, count> *>(to) = values;
}
