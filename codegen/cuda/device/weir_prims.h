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

// `count` elements that one instruction moves, or several that move 16 bytes each; their bytes are
// a power of two.
template <typename T, int count>
struct __align__(sizeof(T) * count < 16 ? sizeof(T) * count : 16) weir_vec {
  T at[count];
  __device__ __forceinline__ T &operator[](int i) { return at[i]; }
  __device__ __forceinline__ const T &operator[](int i) const { return at[i]; }
};

// `from` and `to` are aligned to the vector's bytes, to 16 at most.
template <typename T, int count>
__device__ __forceinline__ weir_vec<T, count> weir_load(const T *from) {
  return *reinterpret_cast<const weir_vec<T, count> *>(from);
}
template <typename T, int count>
__device__ __forceinline__ void weir_store(T *to, const weir_vec<T, count> &values) {
  *reinterpret_cast<weir_vec<T, count> *>(to) = values;
}

// NaN where one of them is.
__device__ __forceinline__ float weir_max(float a, float b) {
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
__device__ __forceinline__ float weir_min(float a, float b) {
  float c;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}

// ex2.approx and lg2.approx: 2 to the power of x, and its inverse, to two units in the last place.
__device__ __forceinline__ float weir_ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float weir_lg2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Between f32 and the bits of bf16 and f16: to the nearest, even among two.
__device__ __forceinline__ unsigned short weir_bf16_of_f32(float x) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
__device__ __forceinline__ unsigned short weir_f16_of_f32(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
__device__ __forceinline__ float weir_f32_of_f16(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}

// Two floats to the nearest bf16, even among two, the first in the lower half.
__device__ __forceinline__ unsigned weir_pack_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// Products of a warp's fragments, d += a b, where a is 16 x k and b is k x 8. With g = lane / 4 and
// t = lane % 4, d is (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). Elements of two bytes: the
// pairs of a begin at (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8), along their rows; those
// of b at (2t, g), (2t + 8, g), along their columns. TF32: a is (g, t), (g + 8, t), (g, t + 4),
// (g + 8, t + 4), b is (t, g), (t + 4, g); they are floats whose lowest 13 bits do not count.
struct weir_bf16 {};
struct weir_f16 {};

__device__ __forceinline__ void weir_mma_m16n8k16(weir_bf16, float (&d)[4], const unsigned (&a)[4],
                                                  unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void weir_mma_m16n8k16(weir_f16, float (&d)[4], const unsigned (&a)[4],
                                                  unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void weir_mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4],
                                                      unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four matrices of 8 rows of 16 bytes in shared memory, which lanes 8 i to 8 i + 7 point at for
// matrix i: every lane gets, of each, the 4 bytes at lane % 4 of row lane / 4; `trans`: of elements
// of two bytes, those at (2t, g) and (2t + 1, g).
__device__ __forceinline__ void weir_ldmatrix_x4(unsigned (&to)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(unsigned(__cvta_generic_to_shared(row)))
               : "memory");
}
__device__ __forceinline__ void weir_ldmatrix_x4_trans(unsigned (&to)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(unsigned(__cvta_generic_to_shared(row)))
               : "memory");
}

// 16 bytes to shared memory, there when the thread has waited for their group (then a barrier shows
// them to others). Zeros where `isThere` is false: nothing is read.
__device__ __forceinline__ void weir_cp_async_16(void *shared, const void *from,
                                                 bool isThere = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   unsigned(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(from)), "r"(isThere ? 16 : 0)
               : "memory");
}
// The thread's copies since the last are a group.
__device__ __forceinline__ void weir_cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until no more than the `pending` youngest groups are on their way.
template <int pending> __device__ __forceinline__ void weir_cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
