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
#include "passes/buffers/ReadStep.h"
#include "passes/lower/KernelTable.h"

namespace weir {

/// Lowers one entry: emits the events of passes/buffers, with the buffers that its rules give.
class EntryLowering {
public:
  using Variables = llvm::StringMap<plan::VariableOp>;

  /// `step` is the entry's, in the order in which its ops stand now.
  EntryLowering(mlir::func::FuncOp function, const buffers::EntryStep &step,
                mlir::OpBuilder builder, const Variables &variables, KernelTable &kernels)
      : function(function), step(step), memory(buffers::measure(step.step, /*most=*/-1)),
        builder(builder), variables(variables), kernels(kernels) {}

  mlir::LogicalResult run();

private:
  using Event = buffers::Event;

  void addInputs();
  void addOutputs();

  /// Whether the written value lies in the variable as soon as it is made.
  bool isDirect(WriteOp write) const;

  mlir::LogicalResult lower(const Event &event);
  mlir::LogicalResult lowerOp(const Event &event);
  mlir::LogicalResult lowerKernel(KernelOp kernel, const Event &event);
  mlir::LogicalResult emitKernel(KernelOp kernel, const Event &event);
  void enter(MicrobatchesOp op, int64_t microbatch);
  mlir::Value lowerCopy(const Event &event);
  void lowerCollective(mlir::Operation *op, const Event &event);
  void lowerTransfer(mlir::Operation *op, const Event &event);
  void lowerPacked(mlir::Operation *op, const Event &event);

  mlir::Value use(llvm::StringRef variable, mlir::Location loc);
  mlir::Value allocate(mlir::Value tensor, llvm::StringRef label,
                       plan::Space space = plan::Space::scratch);
  void copy(mlir::Value from, mlir::Value to, mlir::Type tensor, mlir::Location loc);
  /// The buffer of a value, which is memory or a part of it.
  mlir::Value bufferOfValue(mlir::Value value) { return bufferOf.lookup(memoryOf(value)); }
  /// What a copy reads: the value's buffer, or where the value was kept.
  mlir::Value sourceOf(const Event &event);
  /// The memory that the rules give a tensor.
  mlir::Value memoryOfTensor(int tensor);
  /// The same for a result of an action; allocated, as `value` is labelled, where it is new.
  mlir::Value addResult(const Event &event, unsigned result, mlir::Value value,
                        llvm::StringRef label);
  const buffers::Action &actionOf(const Event &event) const {
    return step.step.actions[event.action];
  }

  mlir::func::FuncOp function;
  const buffers::EntryStep &step;
  const buffers::Memory memory;
  mlir::OpBuilder builder;
  const Variables &variables;
  KernelTable &kernels;
  llvm::DenseMap<mlir::Value, mlir::Value> bufferOf; ///< tensor -> plan buffer
  llvm::StringMap<mlir::Value> uses;
  llvm::DenseMap<int, mlir::Value> allocated; ///< by number of Memory::buffers
  llvm::DenseMap<int, mlir::Value> kept;      ///< by tensor: where the copy of a value lies
  llvm::DenseMap<mlir::Operation *, mlir::Value> rounds; ///< by loop: the counter of its rounds
};

} // namespace weir

#endif
