//===- Target.h - What a fuzz target is ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target is one file with a LLVMFuzzerTestOneInput: any bytes, read as the program would read a
// file. It ends the process where a promise is broken; the sanitizers do the rest. Linked with
// libFuzzer it searches (tools/dev/fuzz), linked with Replay.cpp it repeats what was found before.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_FUZZ_TARGET_H
#define WEIR_TEST_FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// A target may change inputs in a way of its own. Writes to `data`, at most `most` bytes, and
/// returns how many.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/// What any target may call to change bytes without knowing what they mean: libFuzzer's own, or
/// Replay.cpp's.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace weir::fuzz {

inline std::span<const std::byte> bytesOf(const uint8_t *data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// Unlike assert, also where NDEBUG is set.
inline void require(bool holds, const char *promise) {
  if (holds)
    return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

} // namespace weir::fuzz

#endif
