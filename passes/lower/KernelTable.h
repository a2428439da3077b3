//===- KernelTable.h - The kernels of a plan ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_LOWER_KERNELTABLE_H
#define WEIR_PASSES_LOWER_KERNELTABLE_H

#include "codegen/Target.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/kernel/KernelStructure.h"

namespace weir {

/// The kernels of a program, each kept once.
class KernelTable {
public:
  KernelTable(mlir::ModuleOp module, Target &target)
      : module(module), symbols(module), target(target) {}

  struct Entry {
    plan::KernelOp op;
    KernelPlan schedule;
  };

  mlir::FailureOr<const Entry *> of(KernelOp kernel);
  bool isCall(KernelOp kernel) const;
  mlir::LogicalResult call(mlir::OpBuilder &builder, KernelOp kernel, const CallBuffers &buffers);
  int64_t threadScratch = 0;

private:
  mlir::LogicalResult take(KernelOp kernel, int64_t scratch);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  Target &target;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Entry>, KernelStructure> entries;
};

} // namespace weir

#endif
