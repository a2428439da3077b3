//===- FewThreads.cpp - A system that has few threads to give -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loaded before a program (LD_PRELOAD): there are WEIR_THREADS more threads, and no other.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*body)(void *), void *argument) {
  static const char *given = std::getenv("WEIR_THREADS");
  static std::atomic<int> left{given ? std::atoi(given) : 0};
  using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return left.fetch_sub(1) > 0 ? create(thread, attributes, body, argument) : EAGAIN;
}
