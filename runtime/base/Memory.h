//===- Memory.h - Asking for memory ahead of a library --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only. Some libraries do not survive an allocation that fails, so what they will take at
// most is asked for before they are called. Another thread may take it in between: this makes a
// fault rare, and does not exclude it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_MEMORY_H
#define WEIR_RUNTIME_BASE_MEMORY_H

#include <cstddef>
#include <new>
#include <sys/mman.h>

namespace weir {

/// Whether the process may have as many bytes more. A few microseconds; may be asked in a signal's
/// handler.
inline bool mayHave(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

/// Throws std::bad_alloc where the process may not have as many bytes more.
inline void requireMemory(size_t bytes) {
  if (!mayHave(bytes))
    throw std::bad_alloc();
}

} // namespace weir

#endif
