//===- Fibers.h - Stacks to switch between ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a block take turns on one thread of the host. A switch is a handful of
// instructions on x86-64; elsewhere ucontext does it, about 25 times slower.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_FIBERS_H
#define WEIR_TEST_EMULATED_CUDA_FIBERS_H

#include <cstddef>
#include <cstdint>
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace weir::emulated {

/// Where something stopped: what is needed to go on there.
struct Context {
#ifdef __x86_64__
  void *top = nullptr;
#else
  ucontext_t state;
#endif
};

/// Stops here, in `from`, and goes on in `to`; returns when something switches to `from`.
void switchContext(Context &from, Context &to);

constexpr int maxStacks = 1024;

/// Makes `context` one that will call `entry`, which must not return, on stack `index`.
void prepareContext(Context &context, int index, void (*entry)());

/// Whether the address lies on one of the stacks that were prepared so far.
bool isOnStack(uintptr_t address);

} // namespace weir::emulated

#endif
