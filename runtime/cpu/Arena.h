//===- Arena.h - The one allocation ---------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_ARENA_H
#define WEIR_RUNTIME_CPU_ARENA_H

#include <cstddef>
#include <cstdint>

namespace weir::cpu {

/// Bytes of the smallest page of the x86-64 family.
inline constexpr uint64_t pageSize = 4096;

/// Zeroed memory at a multiple of 2 MiB, in huge pages where the system has them, for as long as
/// the object lives.
class Arena {
public:
  /// Throws Failure{Exit::device} that says what it is for ("the model's tensors"), its size and
  /// what the machine has.
  Arena(uint64_t size, const char *purpose);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  std::byte *data() const { return begin; }
  uint64_t size() const { return bytes; }

private:
  uint64_t bytes;
  void *mapping = nullptr;
  uint64_t mapped = 0;
  std::byte *begin = nullptr;
};

} // namespace weir::cpu

#endif
