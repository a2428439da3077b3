//===- Arena.cpp - The one allocation -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Arena.h"
#include "runtime/base/MachineMemory.h"
#include "support/Error.h"
#include <cstdio>
#include <string>
#include <sys/mman.h>

namespace weir::cpu {

static constexpr uint64_t hugePage = uint64_t(2) << 20;

static std::string mebibytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

Arena::Arena(uint64_t size, const char *purpose) : bytes(size) {
  if (size == 0)
    return;
  mapped = size + hugePage;
  // The system promises more memory than it has; a process that then uses it is killed without a
  // word.
  uint64_t total = machineMemory();
  bool fits = !total || size <= total;
  if (fits)
    mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!fits || mapping == MAP_FAILED)
    throw Failure(Exit::device, std::string("not enough memory for ") + purpose + ": " +
                                    mebibytes(size) + " are needed" +
                                    (total ? ", there are " + mebibytes(total) : "") +
                                    "; compile with --memory here, which says what makes it fit");
  uint64_t address = reinterpret_cast<uint64_t>(mapping);
  begin = reinterpret_cast<std::byte *>((address + hugePage - 1) & ~(hugePage - 1));
  madvise(begin, size, MADV_HUGEPAGE);
  // Pages are made now, not in the middle of the first step. Where the kernel cannot (before
  // Linux 5.14), they are made then.
#ifdef MADV_POPULATE_WRITE
  madvise(begin, size, MADV_POPULATE_WRITE);
#endif
}

Arena::~Arena() {
  if (mapping)
    munmap(mapping, mapped);
}

} // namespace weir::cpu
