//===- FatalErrors.cpp - What LLVM cannot go on from ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/FatalErrors.h"
#include "runtime/base/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <unistd.h>

namespace weir {
namespace {

/// Nothing here may ask for memory.
[[noreturn]] void end(std::initializer_list<llvm::StringRef> words, Exit exit) {
  for (llvm::StringRef word : words)
    (void)!write(STDERR_FILENO, word.data(), word.size());
  _exit(static_cast<int>(exit));
}

[[noreturn]] void endOfMemory() { end({"error: out of memory\n"}, Exit::device); }

[[noreturn]] void fatal(void *, const char *reason, bool) {
  if (llvm::StringRef(reason).starts_with("pthread_"))
    end({"error: cannot start a thread: ", reason,
         "; ulimit -u and the container's limit on processes say how many there may be\n"},
        Exit::device);
  end({"error: a fault of Weir's own, please report it: ", reason, "\n"}, Exit::internal);
}

[[noreturn]] void outOfMemory(void *, const char *, bool) { endOfMemory(); }

} // namespace

FatalErrors::FatalErrors() : before(std::set_new_handler(endOfMemory)) {
  llvm::install_fatal_error_handler(fatal);
  llvm::install_bad_alloc_error_handler(outOfMemory);
}

FatalErrors::~FatalErrors() {
  llvm::remove_fatal_error_handler();
  llvm::remove_bad_alloc_error_handler();
  std::set_new_handler(before);
}

} // namespace weir
