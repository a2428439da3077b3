//===- ReadStep.h - An entry of kernels as a model of its memory ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_BUFFERS_READSTEP_H
#define WEIR_PASSES_BUFFERS_READSTEP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/buffers/BufferRules.h"
#include "passes/buffers/KernelFacts.h"

namespace weir::buffers {

struct EntryStep {
  Step step;
  std::vector<mlir::Operation *> makers;     ///< by action: the kernel, fetch or write; null: none
  std::vector<mlir::Value> values;           ///< by tensor
  llvm::DenseMap<mlir::Value, int> tensorOf; ///< by memoryOf()
  /// The block whose kernels are the stretch, and of each of its ops the first action, or the next
  /// op's where it is none.
  mlir::Block *block = nullptr;
  llvm::DenseMap<mlir::Operation *, int> actionOf;
};

/// Of an entry in which everything that computes is in a kernel. `offloads`: what kernels make may
/// lie with the host. Fails, with an error, as the target does.
mlir::FailureOr<EntryStep> readStep(mlir::func::FuncOp entry, KernelFacts &facts,
                                    bool offloads = false);

} // namespace weir::buffers

#endif
