//===- Thread.h - Starting threads ----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only, so that every runtime library may use it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_THREAD_H
#define WEIR_RUNTIME_BASE_THREAD_H

#include "support/Error.h"
#include "support/Text.h"
#include <system_error>
#include <thread>

namespace weir {

/// A thread that runs `body`, which may not throw. Throws Failure(Exit::device) where the system
/// has none to give.
template <typename Body> std::thread startThread(Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error &error) {
    throw Failure(Exit::device,
                  concat("cannot start a thread: ", error.code().message(),
                         "; use fewer threads (--threads N), or raise the limit on processes "
                         "(ulimit -u, or the container's) or on memory (ulimit -v)"));
  }
}

} // namespace weir

#endif
