//===- EntryLowering.h - One entry becomes actions -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_LOWER_ENTRYLOWERING_H
#define WEIR_PASSES_LOWER_ENTRYLOWERING_H

#include "ir/plan/PlanOps.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/lower/KernelTable.h"

namespace weir {

/// Lowers one entry.
class EntryLowering {
public:
  using Variables = llvm::StringMap<plan::VariableOp>;

  EntryLowering(mlir::func::FuncOp function, mlir::OpBuilder builder, const Variables &variables,
                KernelTable &kernels)
      : function(function), builder(builder), variables(variables), kernels(kernels) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerKernel(KernelOp kernel);
  mlir::LogicalResult lowerMicrobatches(MicrobatchesOp op);
  mlir::LogicalResult lowerSections(llvm::ArrayRef<MicrobatchesOp> sections);
  void beginCarried(MicrobatchesOp op, llvm::SmallVectorImpl<mlir::Value> &carried);
  mlir::LogicalResult lowerBody(MicrobatchesOp op, llvm::ArrayRef<mlir::Value> carried);
  void lowerKeep(KeepOp op);
  void lowerCollective(mlir::Operation *op);
  void lowerTransfer(mlir::Operation *op);
  void lowerPacked(mlir::Operation *op);
  mlir::Value use(llvm::StringRef variable, mlir::Location loc);
  mlir::Value allocate(mlir::Value tensor, llvm::StringRef label);
  mlir::Value allocateOnHost(mlir::Value tensor);
  void copy(mlir::Value from, mlir::Value to, mlir::Type tensor, mlir::Location loc);
  void findTargets(mlir::Block &block);
  bool mayWriteDirectly(mlir::Value value, llvm::ArrayRef<mlir::Value> oldValues,
                        mlir::Block &block);
  mlir::FailureOr<const KernelTable::Entry *> entryOf(KernelOp kernel);

  bool isOfHost(WriteOp write) { return variables.lookup(write.getVariable()).getHost(); }
  /// Whether it gives a variable of the device its value, at the entry's end.
  bool isLate(mlir::Operation *op) {
    auto write = llvm::dyn_cast<WriteOp>(op);
    return write && !isOfHost(write);
  }

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  const Variables &variables;
  KernelTable &kernels;
  llvm::DenseMap<mlir::Operation *, const KernelTable::Entry *>
      entries;                                       ///< of kernels of this function
  llvm::DenseMap<mlir::Value, mlir::Value> bufferOf; ///< tensor -> plan buffer
  llvm::StringMap<mlir::Value> uses;
  llvm::DenseMap<mlir::Value, mlir::Value> targetOf; ///< a result -> the buffer it goes to directly
  int64_t microbatch = 0;                            ///< that a section is lowered for
  /// What sections keep for each other, by number and microbatch.
  llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value> kept;
};

/// Whether every use of the memory, under whatever shape, is as `fn` wants it. Ends at the first
/// that is not, the latest first: what is used in every layer is soon told.
template <typename Fn> bool everyUse(mlir::Value memory, Fn &&fn) {
  return llvm::all_of(memory.getUses(), [&](mlir::OpOperand &use) {
    if (isAlias(use.getOwner()))
      return everyUse(use.getOwner()->getResult(0), fn);
    return fn(use);
  });
}

} // namespace weir

#endif
