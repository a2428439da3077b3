//===- SlowWrites.cpp - A disk that is slow ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loaded before a program (LD_PRELOAD): each pwrite, which checkpoints alone are written with,
// takes WEIR_WRITE_MS milliseconds more.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

extern "C" ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  static const char *given = std::getenv("WEIR_WRITE_MS");
  using Write = ssize_t (*)(int, const void *, size_t, off_t);
  static const auto write = reinterpret_cast<Write>(dlsym(RTLD_NEXT, "pwrite"));
  usleep(given ? 1000 * std::atoi(given) : 0);
  return write(file, data, size, at);
}
