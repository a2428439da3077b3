//===- CpuTarget.h - Kernels for x86-64 -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From weir.kernel ops to one ELF shared object that exports every launch and has no undefined
// symbol. A launch is
//
//   void f(void *const *operands, int64_t lo, int64_t hi, void *threadScratch)
//
// operands: the kernel's inputs, then its results, then its workspace, each a row-major tensor
// (ui8 and i1 one byte per element) whose address is a multiple of 64. [lo, hi) is a range of the
// launch's tasks. A task's work and the order of all sums are the plan's, which depends on the
// kernel and the target alone: the number of threads changes no bit. threadScratch is
// KernelPlan::threadScratch bytes of the calling thread, at a multiple of 64.
//
// The phases of compiling that DumpKernels sees are "emitted", "vectorized" and "lowered".
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_CPUTARGET_H
#define WEIR_CODEGEN_CPU_CPUTARGET_H

#include "codegen/Target.h"

namespace weir {

/// The target of an option that Processor::parse takes; null for any other.
///
/// Linking resets llvm::cl options to their defaults: read them before it compiles.
std::unique_ptr<Target> makeCpuTarget(llvm::StringRef option);

/// The dialects of what it emits.
void registerCpuDialects(mlir::DialectRegistry &registry);

} // namespace weir

#endif
