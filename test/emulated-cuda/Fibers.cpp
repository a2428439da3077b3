//===- Fibers.cpp - Stacks to switch between ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Fibers.h"
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

namespace weir::emulated {
namespace {

constexpr size_t guardBytes = 4096;
constexpr size_t stackBytes = 64 << 10;
constexpr size_t slotBytes = guardBytes + stackBytes;

uint8_t *slots = nullptr;
int guarded = 0; ///< stacks whose guard page stands

/// A stack grows down into its guard page. Tops at equal distances would share the lines of the
/// cache: each is set off by a few lines from the one before.
uint8_t *topOf(int index) {
  if (!slots) {
    void *memory = mmap(nullptr, slotBytes * maxStacks, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("emulated CUDA: no memory for stacks");
      std::abort();
    }
    slots = static_cast<uint8_t *>(memory);
  }
  for (; guarded <= index; ++guarded)
    mprotect(slots + slotBytes * guarded, guardBytes, PROT_NONE);
  return slots + slotBytes * (index + 1) - size_t(index % 48) * 320;
}

} // namespace

bool isOnStack(uintptr_t address) {
  return address - reinterpret_cast<uintptr_t>(slots) < slotBytes * size_t(guarded);
}

#ifdef __x86_64__

extern "C" void weirEmulatedSwitch(void **from, void *to);

// Saves what a callee must keep, leaves the top of the stack in *from, and takes all that from
// `to`.
asm(".text\n"
    ".type weirEmulatedSwitch, @function\n"
    ".hidden weirEmulatedSwitch\n"
    ".globl weirEmulatedSwitch\n"
    "weirEmulatedSwitch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size weirEmulatedSwitch, .-weirEmulatedSwitch\n");

void switchContext(Context &from, Context &to) { weirEmulatedSwitch(&from.top, to.top); }

void prepareContext(Context &context, int index, void (*entry)()) {
  auto **top = reinterpret_cast<void **>(topOf(index)) - 1;
  // `ret` takes the entry; the stack is then as behind a call, 8 beyond a multiple of 16.
  *top = nullptr;
  *--top = reinterpret_cast<void *>(entry);
  for (int saved = 0; saved < 6; ++saved)
    *--top = nullptr;
  context.top = top;
}

#else

void switchContext(Context &from, Context &to) { swapcontext(&from.state, &to.state); }

void prepareContext(Context &context, int index, void (*entry)()) {
  getcontext(&context.state);
  uint8_t *top = topOf(index);
  uint8_t *bottom = slots + slotBytes * index + guardBytes;
  context.state.uc_stack.ss_sp = bottom;
  context.state.uc_stack.ss_size = size_t(top - bottom) / 16 * 16;
  context.state.uc_link = nullptr;
  makecontext(&context.state, entry, 0);
}

#endif

} // namespace weir::emulated
