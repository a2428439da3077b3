// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CUDA C++ has beyond C++, for kernels that run on a CPU: put before the text of every
// program. It includes nothing, so that a small kernel compiles in a few hundredths of a second.

// The instrumentation's functions, under names that no sanitizer of the process has.
#if WEIR_EMULATED_CHECKED
asm(".set __tsan_init, weirEmulatedNothing\n"
    ".set __tsan_func_entry, weirEmulatedNothing\n"
    ".set __tsan_func_exit, weirEmulatedNothing\n"
    ".set __tsan_read1, weirEmulatedRead1\n"
    ".set __tsan_read2, weirEmulatedRead2\n"
    ".set __tsan_read4, weirEmulatedRead4\n"
    ".set __tsan_read8, weirEmulatedRead8\n"
    ".set __tsan_read16, weirEmulatedRead16\n"
    ".set __tsan_write1, weirEmulatedWrite1\n"
    ".set __tsan_write2, weirEmulatedWrite2\n"
    ".set __tsan_write4, weirEmulatedWrite4\n"
    ".set __tsan_write8, weirEmulatedWrite8\n"
    ".set __tsan_write16, weirEmulatedWrite16\n"
    ".set __tsan_unaligned_read2, weirEmulatedUnalignedRead2\n"
    ".set __tsan_unaligned_read4, weirEmulatedUnalignedRead4\n"
    ".set __tsan_unaligned_read8, weirEmulatedUnalignedRead8\n"
    ".set __tsan_unaligned_read16, weirEmulatedUnalignedRead16\n"
    ".set __tsan_unaligned_write2, weirEmulatedUnalignedWrite2\n"
    ".set __tsan_unaligned_write4, weirEmulatedUnalignedWrite4\n"
    ".set __tsan_unaligned_write8, weirEmulatedUnalignedWrite8\n"
    ".set __tsan_unaligned_write16, weirEmulatedUnalignedWrite16\n"
    ".set __tsan_read_range, weirEmulatedReadRange\n"
    ".set __tsan_write_range, weirEmulatedWriteRange\n"
    ".set __tsan_memcpy, weirEmulatedMemcpy\n"
    ".set __tsan_memmove, weirEmulatedMemmove\n"
    ".set __tsan_memset, weirEmulatedMemset\n"
    ".set __ubsan_handle_out_of_bounds, weirEmulatedOutOfBounds\n");
#endif

// That this is code for the emulation and no other device: a note of type 1 without a text.
asm(".pushsection .note.weir.emulated, \"a\", @note\n"
    ".balign 4\n"
    ".long 13, 0, 1\n"
    ".asciz \"WeirEmulated\"\n"
    ".balign 4\n"
    ".popsection\n");

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __host__
#define __constant__ static const
#define __shared__ static __attribute__((section("weir_static_shared")))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __grid_constant__

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
};

// The emulation writes there as threads take turns; while one runs, they are constant.
struct WeirEmulatedPlace {
  uint3 thread, block;
  dim3 blockSize, gridSize;
};
extern "C" const WeirEmulatedPlace weirEmulatedPlace;
#define threadIdx weirEmulatedPlace.thread
#define blockIdx weirEmulatedPlace.block
#define blockDim weirEmulatedPlace.blockSize
#define gridDim weirEmulatedPlace.gridSize
constexpr int warpSize = 32;

typedef unsigned long long WeirEmulatedBits;
extern "C" {
void weirEmulatedBarrier(const char *file, int line);
void weirEmulatedSyncWarp(unsigned mask, const char *file, int line);
unsigned weirEmulatedBallot(unsigned mask, int vote, const char *file, int line);
WeirEmulatedBits weirEmulatedShuffle(int kind, unsigned mask, WeirEmulatedBits value, int given,
                                     int width, const char *file, int line);
float weirEmulatedAtomicAddF32(float *to, float value);
int weirEmulatedAtomicAddI32(int *to, int value);
void weirEmulatedMisaligned(const void *at, unsigned bytes);
void *memcpy(void *, const void *, decltype(sizeof 0)) noexcept;
void *memset(void *, int, decltype(sizeof 0)) noexcept;
float expf(float) noexcept;
float exp2f(float) noexcept;
float logf(float) noexcept;
float log2f(float) noexcept;
float tanhf(float) noexcept;
float erff(float) noexcept;
float sinf(float) noexcept;
float cosf(float) noexcept;
float powf(float, float) noexcept;
}

#define WEIR_EMULATED_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline __attribute__((always_inline)) void __syncthreads(WEIR_EMULATED_SITE) {
  weirEmulatedBarrier(file, line);
}
inline __attribute__((always_inline)) void __syncwarp(unsigned mask = 0xffffffffu,
                                                      WEIR_EMULATED_SITE) {
  weirEmulatedSyncWarp(mask, file, line);
}
inline __attribute__((always_inline)) unsigned __ballot_sync(unsigned mask, int vote,
                                                             WEIR_EMULATED_SITE) {
  return weirEmulatedBallot(mask, vote, file, line);
}
inline __attribute__((always_inline)) int __any_sync(unsigned mask, int vote, WEIR_EMULATED_SITE) {
  return weirEmulatedBallot(mask, vote, file, line) != 0;
}
inline __attribute__((always_inline)) int __all_sync(unsigned mask, int vote, WEIR_EMULATED_SITE) {
  return weirEmulatedBallot(mask, vote, file, line) == mask;
}

template <typename T>
inline __attribute__((always_inline)) T weirEmulatedShuffled(int kind, unsigned mask, T value,
                                                             int given, int width, const char *file,
                                                             int line) {
  static_assert(sizeof(T) <= 8, "shuffles move 4 or 8 bytes");
  WeirEmulatedBits bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = weirEmulatedShuffle(kind, mask, bits, given, width, file, line);
  T result;
  __builtin_memcpy(&result, &bits, sizeof(T));
  return result;
}
#define WEIR_EMULATED_SHUFFLE(name, kind)                                                          \
  template <typename T>                                                                            \
  inline __attribute__((always_inline)) T name(unsigned mask, T value, int given, int width = 32,  \
                                               WEIR_EMULATED_SITE) {                               \
    return weirEmulatedShuffled(kind, mask, value, given, width, file, line);                      \
  }
WEIR_EMULATED_SHUFFLE(__shfl_xor_sync, 0)
WEIR_EMULATED_SHUFFLE(__shfl_sync, 1)
WEIR_EMULATED_SHUFFLE(__shfl_down_sync, 2)
WEIR_EMULATED_SHUFFLE(__shfl_up_sync, 3)
#undef WEIR_EMULATED_SHUFFLE

inline float atomicAdd(float *to, float value) { return weirEmulatedAtomicAddF32(to, value); }
inline int atomicAdd(int *to, int value) { return weirEmulatedAtomicAddI32(to, value); }
inline unsigned atomicAdd(unsigned *to, unsigned value) {
  return unsigned(weirEmulatedAtomicAddI32((int *)to, int(value)));
}

#define WEIR_EMULATED_INLINE inline __attribute__((always_inline))
WEIR_EMULATED_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
WEIR_EMULATED_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
WEIR_EMULATED_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
WEIR_EMULATED_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
WEIR_EMULATED_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WEIR_EMULATED_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WEIR_EMULATED_INLINE float __fadd_rn(float a, float b) { return a + b; }
WEIR_EMULATED_INLINE float __fmul_rn(float a, float b) { return a * b; }
WEIR_EMULATED_INLINE float __fdividef(float a, float b) { return a / b; }
WEIR_EMULATED_INLINE float sqrtf(float x) { return __builtin_sqrtf(x); }
WEIR_EMULATED_INLINE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
WEIR_EMULATED_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
WEIR_EMULATED_INLINE float floorf(float x) { return __builtin_floorf(x); }
WEIR_EMULATED_INLINE float ceilf(float x) { return __builtin_ceilf(x); }
WEIR_EMULATED_INLINE float truncf(float x) { return __builtin_truncf(x); }
WEIR_EMULATED_INLINE float rintf(float x) { return __builtin_rintf(x); }
// As the GPU's: a NaN gives way to a number.
WEIR_EMULATED_INLINE float fmaxf(float a, float b) { return a != a ? b : b != b || a > b ? a : b; }
WEIR_EMULATED_INLINE float fminf(float a, float b) { return a != a ? b : b != b || a < b ? a : b; }
WEIR_EMULATED_INLINE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
WEIR_EMULATED_INLINE float __expf(float x) { return expf(x); }
WEIR_EMULATED_INLINE float __logf(float x) { return logf(x); }
WEIR_EMULATED_INLINE int abs(int x) { return x < 0 ? int(0u - unsigned(x)) : x; }
WEIR_EMULATED_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
WEIR_EMULATED_INLINE int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
WEIR_EMULATED_INLINE int __ffs(int x) { return __builtin_ffs(x); }
WEIR_EMULATED_INLINE int min(int a, int b) { return a < b ? a : b; }
WEIR_EMULATED_INLINE int max(int a, int b) { return a > b ? a : b; }
WEIR_EMULATED_INLINE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
WEIR_EMULATED_INLINE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }

// Calls of kernels with arguments that lie behind pointers, and the table of all (Module.h).

template <int... i> struct WeirEmulatedSequence {};
template <int count, int... i>
struct WeirEmulatedCount : WeirEmulatedCount<count - 1, count - 1, i...> {};
template <int... i> struct WeirEmulatedCount<0, i...> {
  using Sequence = WeirEmulatedSequence<i...>;
};

template <auto kernel> struct WeirEmulatedKernel;
template <typename... Arguments, void (*kernel)(Arguments...)> struct WeirEmulatedKernel<kernel> {
  static constexpr unsigned count = sizeof...(Arguments);
  static constexpr unsigned sizes[count + 1] = {sizeof(Arguments)..., 0};

  template <int... i>
  static __attribute__((no_sanitize("thread"))) void unpack(void **from,
                                                            WeirEmulatedSequence<i...>) {
    kernel(*static_cast<Arguments *>(from[i])...);
  }
  static __attribute__((no_sanitize("thread"))) void call(void **from) {
    unpack(from, typename WeirEmulatedCount<int(count)>::Sequence());
  }
};

struct WeirEmulatedEntry {
  const char *name;
  void (*call)(void **);
  const unsigned *sizes;
  unsigned argumentCount, maxThreads;
};
struct WeirEmulatedTable {
  unsigned version, kernels, checked, flushesToZero;
  const WeirEmulatedEntry *entries;
  const void *sharedBegin, *sharedEnd;
};
// Where there are no static shared arrays, these are null.
extern "C" __attribute__((weak, visibility("hidden"))) char __start_weir_static_shared[];
extern "C" __attribute__((weak, visibility("hidden"))) char __stop_weir_static_shared[];

#define WEIR_EMULATED_ENTRY(kernel, maxThreads)                                                    \
  {#kernel, WeirEmulatedKernel<kernel>::call, WeirEmulatedKernel<kernel>::sizes,                   \
   WeirEmulatedKernel<kernel>::count, maxThreads}
