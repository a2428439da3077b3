//===- KernelCode.h - Compiled kernels, one at a time ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the machine code of a plan's kernels on given tensors and compares what it computes with the
// weir region that is the kernel's meaning.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_KERNELCODE_H
#define WEIR_VERIFY_KERNELCODE_H

#include "ir/reference/PlanInterpreter.h"
#include "runtime/core/Loader.h"

namespace weir {

/// What is wrong with one result of a compiled kernel.
struct KernelFault {
  unsigned result;
  std::string what; ///< "element 3 should be 0.5 but is nan"
  double relative;
};

class KernelCode {
public:
  /// `code` is an ELF object as compileKernels makes it.
  explicit KernelCode(llvm::ArrayRef<char> code);

  /// Runs every launch of the kernel on the inputs of its meaning. Its results, its workspaces and
  /// its thread's scratch are filled with NaN before. `outside` tells whether it wrote behind one of
  /// its operands.
  Tensors run(plan::KernelOp kernel, llvm::ArrayRef<Tensor> inputs, bool &outside);

  /// Compares the kernel with its meaning. Fails with a diagnostic if the interpreter does. `largest`
  /// is raised to the largest relative difference.
  mlir::FailureOr<std::vector<KernelFault>> check(plan::KernelOp kernel,
                                                  llvm::ArrayRef<Tensor> inputs, double &largest);

private:
  Loader loader;
};

/// How far each result of a region moves when its inputs do by a unit in their last place, as often
/// as `runs` says; compiled code may differ from the truth by a few times that. `moved` gets, for each
/// result, which elements changed at all.
mlir::FailureOr<std::vector<double>> sensitivity(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                                 llvm::ArrayRef<Tensor> truth, int runs,
                                                 std::vector<std::vector<bool>> &moved);

} // namespace weir

#endif
