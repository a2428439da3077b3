//===- weir_scalar.h - Arithmetic that C++ leaves undefined ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic that C++ leaves undefined or rounds in another way: integers wrap, maxima keep NaN.
#pragma once

__device__ __forceinline__ int weir_add(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ __forceinline__ int weir_sub(int a, int b) { return int(unsigned(a) - unsigned(b)); }
__device__ __forceinline__ int weir_mul(int a, int b) { return int(unsigned(a) * unsigned(b)); }
__device__ __forceinline__ long long weir_add(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
__device__ __forceinline__ long long weir_sub(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}
__device__ __forceinline__ long long weir_mul(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}
__device__ __forceinline__ int weir_floor_div(int a, int b) {
  int quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

__device__ __forceinline__ int weir_max(int a, int b) { return a > b ? a : b; }
__device__ __forceinline__ int weir_min(int a, int b) { return a < b ? a : b; }

// e to the power of x, to a few units in the last place, with what is below 2^-126 as 0: 2^n 2^f
// with n the nearest whole number. 1.5 2^23 + 127 puts n + 127 where it is shifted to the exponent.
__device__ __forceinline__ float weir_exp(float x) {
  const float within = fminf(fmaxf(x, -88.0f), 88.3f);
  const float shifted = fmaf(within, 1.44269502f, 12583039.0f);
  const float n = shifted - 12583039.0f;
  const float f = fmaf(x, 1.92596303e-08f, fmaf(x, 1.44269502f, -n));
  return weir_ex2(f) * __int_as_float(__float_as_int(shifted) << 23);
}

template <typename T, int count> __device__ __forceinline__ weir_vec<T, count> weir_splat(T value) {
  weir_vec<T, count> all;
#pragma unroll
  for (int i = 0; i < count; ++i)
    all[i] = value;
  return all;
}

// An element type in memory, and from and to f32; kernels declare those of low precision.
struct weir_f32 {
  typedef float stored;
  static __device__ __forceinline__ float widen(float x) { return x; }
  static __device__ __forceinline__ float narrow(float x) { return x; }
};
