//===- Kernels.h - Compiled kernels for x86-64 ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From weir.kernel ops to one shared object. A kernel's function is
//
//   void f(void *const *operands, int64_t lo, int64_t hi, void *threadScratch)
//
// operands: the kernel's inputs, then its results, then its workspaces, each a row-major tensor
// (ui8 and i1 one byte per element) whose address is a multiple of 64. [lo, hi) is a range of the
// launch's tasks. A task's work and the order of all sums are the plan's, which depends on the
// kernel and the target alone: the number of threads changes no bit. threadScratch is
// KernelPlan::threadScratch bytes of the calling thread, at a multiple of 64.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_KERNELS_H
#define WEIR_CODEGEN_CPU_KERNELS_H

#include "ir/weir/WeirDialect.h"
#include "mlir/Support/Timing.h"

#include <optional>
#include <string>
#include <vector>

namespace weir {

/// A processor to generate code for.
struct Target {
  std::string cpu;      ///< LLVM's -mcpu
  std::string features; ///< LLVM's -mattr, may be empty
  std::string level;    ///< x86-64-v3 or x86-64-v4: what the code needs at least
  int vectorBits = 256;

  /// From "cpu" (this machine), "cpu:x86-64-v3" or "cpu:x86-64-v4"; none for anything else, and for
  /// "cpu" on a machine below x86-64-v3.
  static std::optional<Target> parse(llvm::StringRef option);
};

/// One launch of a kernel's work: the function is the kernel's symbol followed by `suffix`.
struct LaunchPlan {
  std::string suffix;
  int64_t tasks = 1;
};

struct KernelPlan {
  llvm::SmallVector<LaunchPlan> launches; ///< to be run one after the other
  llvm::SmallVector<int64_t>
      workspaces; ///< bytes of each scratch operand; their contents pass from launch to launch
  int64_t threadScratch = 0; ///< bytes per thread
  /// (result, input): the result may be stored in the input's buffer: every element is read before
  /// it is written, by the same task.
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;
};

/// How a kernel of shape map, row, nest, segment or attention is run. A kernel that no schedule
/// here can serve gets an error at its location, and failure.
mlir::FailureOr<KernelPlan> planKernel(KernelOp kernel, const Target &target);

struct NamedKernel {
  KernelOp op;
  std::string symbol;
};

/// Sees the module of all kernels after a phase: "emitted", "vectorized", "lowered".
using DumpKernels = llvm::function_ref<void(llvm::StringRef phase, mlir::ModuleOp)>;

/// The bytes of an ELF shared object that exports every launch of the kernels and has no undefined
/// symbol; none at all where there are no kernels, as in a program of library calls alone. What it
/// takes is added to `time`, step by step.
///
/// Linking resets llvm::cl options to their defaults: read them before.
mlir::FailureOr<std::vector<char>> compileKernels(llvm::ArrayRef<NamedKernel> kernels,
                                                  const Target &target, DumpKernels dump = nullptr,
                                                  mlir::TimingScope time = {});

} // namespace weir

#endif
