//===- FatalErrors.cpp - What LLVM cannot go on from ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/FatalErrors.h"
#include "runtime/base/Memory.h"
#include "support/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <array>
#include <csignal>
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

/// MLIR does not look at what malloc returns, and the C library aborts where a thread's first
/// variable with a destructor gets no memory. Any other end is left to who handled it before.
constexpr std::array ends = {SIGABRT, SIGSEGV};
std::array<struct sigaction, ends.size()> endsBefore;

void onEnd(int signal) {
  if (!mayHave(1 << 20)) // what malloc asks the system for at most where little is asked of it
    endOfMemory();
  for (size_t i = 0; i < ends.size(); ++i)
    if (ends[i] == signal)
      sigaction(signal, &endsBefore[i], nullptr);
  raise(signal); // is blocked here, and comes behind
}

/// The first thread's stack grows as it is used, and cannot where memory is out.
alignas(16) std::array<char, 64 << 10> stackOfEnds;
stack_t stackBefore;

} // namespace

FatalErrors::FatalErrors() : before(std::set_new_handler(endOfMemory)) {
  llvm::install_fatal_error_handler(fatal);
  llvm::install_bad_alloc_error_handler(outOfMemory);
  stack_t stack = {};
  stack.ss_sp = stackOfEnds.data();
  stack.ss_size = stackOfEnds.size();
  sigaltstack(&stack, &stackBefore);
  struct sigaction action = {};
  action.sa_handler = onEnd;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < ends.size(); ++i)
    sigaction(ends[i], &action, &endsBefore[i]);
}

FatalErrors::~FatalErrors() {
  for (size_t i = 0; i < ends.size(); ++i)
    sigaction(ends[i], &endsBefore[i], nullptr);
  sigaltstack(&stackBefore, nullptr);
  llvm::remove_fatal_error_handler();
  llvm::remove_bad_alloc_error_handler();
  std::set_new_handler(before);
}

} // namespace weir
