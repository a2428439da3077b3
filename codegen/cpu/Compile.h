//===- Compile.h - From emitted kernels to a shared object ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each family of kernels becomes an object of its own, on as many threads as there are. Objects
// depend on what was emitted alone, not on the names of the kernels: those of families that were
// compiled before, for any model, come from the user's cache (support/system/KernelCache.h). The
// linker gives launches their names.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_COMPILE_H
#define WEIR_CODEGEN_CPU_COMPILE_H

#include "codegen/cpu/Lower.h"

namespace weir {

/// A family and what was emitted for it, as text: the functions before they were given names and
/// keys.
struct EmittedFamily {
  KernelFamily family;
  std::string text;
};

/// A shared object of the families, whose functions are in `module`. `dump` sees it before and
/// after each phase, as CpuTarget.h says; then nothing is taken from the cache.
mlir::FailureOr<std::vector<char>>
compileFamilies(mlir::ModuleOp module, llvm::ArrayRef<EmittedFamily> families,
                const Processor &processor, const DumpKernels &dump, mlir::TimingScope &time);

} // namespace weir

#endif
