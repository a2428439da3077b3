// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels use beyond plain CUDA C++, for the emulation: the same names as in
// codegen/cuda/device/weir_prims.h, which it takes the place of.
#pragma once

extern "C" __align__(16) unsigned char weirEmulatedShared[];
#define weir_shared weirEmulatedShared

template <typename T, int count>
struct __align__(sizeof(T) * count < 16 ? sizeof(T) * count : 16) weir_vec {
  T at[count];
  __device__ __forceinline__ T &operator[](int i) { return at[i]; }
  __device__ __forceinline__ const T &operator[](int i) const { return at[i]; }
};

template <typename T, int count>
__device__ __forceinline__ weir_vec<T, count> weir_load(const T *from) {
  if ((unsigned long long)from % alignof(weir_vec<T, count>))
    weirEmulatedMisaligned(from, sizeof(weir_vec<T, count>));
  return *reinterpret_cast<const weir_vec<T, count> *>(from);
}
template <typename T, int count>
__device__ __forceinline__ void weir_store(T *to, const weir_vec<T, count> &values) {
  if ((unsigned long long)to % alignof(weir_vec<T, count>))
    weirEmulatedMisaligned(to, sizeof(weir_vec<T, count>));
  *reinterpret_cast<weir_vec<T, count> *>(to) = values;
}

__device__ __forceinline__ float weir_max(float a, float b) { return a > b || a != a ? a : b; }
__device__ __forceinline__ float weir_min(float a, float b) { return a < b || a != a ? a : b; }

__device__ __forceinline__ float weir_ex2(float x) { return exp2f(x); }
__device__ __forceinline__ float weir_lg2(float x) { return log2f(x); }

__device__ __forceinline__ unsigned weirEmulatedBf16(float x) {
  unsigned bits = __float_as_uint(x);
  return x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
__device__ __forceinline__ unsigned short weir_bf16_of_f32(float x) { return weirEmulatedBf16(x); }
// The compiler's own type, whose NaN keep their bits: a GPU's are one.
__device__ __forceinline__ unsigned short weir_f16_of_f32(float x) {
  return x != x ? 0x7fff : __builtin_bit_cast(unsigned short, _Float16(x));
}
__device__ __forceinline__ float weir_f32_of_f16(unsigned short bits) {
  return float(__builtin_bit_cast(_Float16, bits));
}
__device__ __forceinline__ unsigned weir_pack_bf16(float low, float high) {
  return weirEmulatedBf16(low) | weirEmulatedBf16(high) << 16;
}

struct weir_bf16 {};
struct weir_f16 {};

extern "C" {
void weirEmulatedMma(int kind, float *d, const unsigned *a, unsigned b0, unsigned b1,
                     const char *file, int line);
void weirEmulatedLoadMatrix(unsigned *to, const void *row, int transposes, const char *file,
                            int line);
void weirEmulatedCopyAsync(void *shared, const void *from, int isThere);
void weirEmulatedCommitCopies();
void weirEmulatedWaitForCopies(int pending);
}

__device__ __forceinline__ void weir_mma_m16n8k16(weir_bf16, float (&d)[4], const unsigned (&a)[4],
                                                  unsigned b0, unsigned b1, WEIR_EMULATED_SITE) {
  weirEmulatedMma(0, d, a, b0, b1, file, line);
}
__device__ __forceinline__ void weir_mma_m16n8k16(weir_f16, float (&d)[4], const unsigned (&a)[4],
                                                  unsigned b0, unsigned b1, WEIR_EMULATED_SITE) {
  weirEmulatedMma(1, d, a, b0, b1, file, line);
}
__device__ __forceinline__ void weir_mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4],
                                                      unsigned b0, unsigned b1,
                                                      WEIR_EMULATED_SITE) {
  weirEmulatedMma(2, d, a, b0, b1, file, line);
}
__device__ __forceinline__ void weir_ldmatrix_x4(unsigned (&to)[4], const void *row,
                                                 WEIR_EMULATED_SITE) {
  weirEmulatedLoadMatrix(to, row, 0, file, line);
}
__device__ __forceinline__ void weir_ldmatrix_x4_trans(unsigned (&to)[4], const void *row,
                                                       WEIR_EMULATED_SITE) {
  weirEmulatedLoadMatrix(to, row, 1, file, line);
}
__device__ __forceinline__ void weir_cp_async_16(void *shared, const void *from,
                                                 bool isThere = true) {
  weirEmulatedCopyAsync(shared, from, isThere);
}
__device__ __forceinline__ void weir_cp_async_commit() { weirEmulatedCommitCopies(); }
template <int pending> __device__ __forceinline__ void weir_cp_async_wait() {
  weirEmulatedWaitForCopies(pending);
}
