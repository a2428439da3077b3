//===- Hooks.cpp - What instrumented kernels call at each access --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's instrumentation for a race detector calls these; kernel/weir_emulated.h gives its
// functions these names, so that a sanitizer in this process stays out of it.
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Block.h"
#include "test/emulated-cuda/Shadow.h"
#include <cstring>

#define WEIR_EMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace weir::emulated {

static uint64_t addressOf(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

#define WEIR_EMULATED_HOOKS(bytes)                                                                 \
  WEIR_EMULATED_EXPORT void weirEmulatedRead##bytes(const void *p) {                               \
    shadowAccess(addressOf(p), bytes, Access::read, true);                                         \
  }                                                                                                \
  WEIR_EMULATED_EXPORT void weirEmulatedWrite##bytes(void *p) {                                    \
    shadowAccess(addressOf(p), bytes, Access::write, true);                                        \
  }                                                                                                \
  WEIR_EMULATED_EXPORT void weirEmulatedUnalignedRead##bytes(const void *p) {                      \
    shadowAccess(addressOf(p), bytes, Access::read, false);                                        \
  }                                                                                                \
  WEIR_EMULATED_EXPORT void weirEmulatedUnalignedWrite##bytes(void *p) {                           \
    shadowAccess(addressOf(p), bytes, Access::write, false);                                       \
  }
WEIR_EMULATED_HOOKS(1)
WEIR_EMULATED_HOOKS(2)
WEIR_EMULATED_HOOKS(4)
WEIR_EMULATED_HOOKS(8)
WEIR_EMULATED_HOOKS(16)
#undef WEIR_EMULATED_HOOKS

WEIR_EMULATED_EXPORT void weirEmulatedReadRange(const void *p, size_t bytes) {
  shadowAccess(addressOf(p), bytes, Access::read, false);
}
WEIR_EMULATED_EXPORT void weirEmulatedWriteRange(void *p, size_t bytes) {
  shadowAccess(addressOf(p), bytes, Access::write, false);
}

WEIR_EMULATED_EXPORT void *weirEmulatedMemcpy(void *to, const void *from, size_t bytes) {
  weirEmulatedReadRange(from, bytes);
  weirEmulatedWriteRange(to, bytes);
  return std::memcpy(to, from, bytes);
}
WEIR_EMULATED_EXPORT void *weirEmulatedMemmove(void *to, const void *from, size_t bytes) {
  weirEmulatedReadRange(from, bytes);
  weirEmulatedWriteRange(to, bytes);
  return std::memmove(to, from, bytes);
}
WEIR_EMULATED_EXPORT void *weirEmulatedMemset(void *to, int value, size_t bytes) {
  weirEmulatedWriteRange(to, bytes);
  return std::memset(to, value, bytes);
}

/// Functions begin and end, and libraries are loaded: nothing to do.
WEIR_EMULATED_EXPORT void weirEmulatedNothing() {}

WEIR_EMULATED_EXPORT void weirEmulatedOutOfBounds(const void *, uint64_t index) {
  failThread(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
             "index " + std::to_string(int64_t(index)) + " is beyond an array");
}

/// A vector access at an address that is no multiple of its bytes; plain kernels call it, too.
WEIR_EMULATED_EXPORT void weirEmulatedMisaligned(const void *p, unsigned bytes) {
  char text[96];
  std::snprintf(text, sizeof text, "accesses %u bytes at %p, which is not aligned", bytes, p);
  failThread(cuda::CUDA_ERROR_MISALIGNED_ADDRESS, text);
}

WEIR_EMULATED_EXPORT float weirEmulatedAtomicAddF32(float *to, float value) {
  shadowAccess(addressOf(to), 4, Access::atomic, true);
  float before = *to;
  *to = before + value;
  return before;
}
WEIR_EMULATED_EXPORT int weirEmulatedAtomicAddI32(int *to, int value) {
  shadowAccess(addressOf(to), 4, Access::atomic, true);
  int before = *to;
  *to = int(unsigned(before) + unsigned(value));
  return before;
}

} // namespace weir::emulated
