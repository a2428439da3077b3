//===- PlanInterpreter.h - What a plan means ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the actions of plan entries one by one: a launch by the weir region that is its kernel's
// meaning, a library call by the formula of its description.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_PLANINTERPRETER_H
#define WEIR_IR_REFERENCE_PLANINTERPRETER_H

#include "ir/plan/PlanOps.h"
#include "ir/reference/Interpreter.h"
#include "ir/reference/Memory.h"

namespace weir {

class PlanInterpreter {
public:
  /// Reads kernels from `plan`. All three outlive the interpreter.
  PlanInterpreter(mlir::ModuleOp plan, Memory &memory, Interpreter &interpreter);

  /// Every action of an entry or of a loop's body, in order.
  mlir::LogicalResult run(mlir::Block &block);

  /// The kernel a launch runs.
  plan::KernelOp kernelOf(plan::LaunchOp launch) const;

  /// Called around every action, where set; a loop's own calls enclose those of its body.
  std::function<void(mlir::Operation *)> before, after;

  Memory &memory;
  Interpreter &interpreter;

private:
  llvm::StringMap<plan::KernelOp> kernels;
};

/// Runs an entry over an arena: the variables go in and come out, as do the tensors of its ports,
/// in their order. Scratch begins unknown. Fails with a diagnostic.
mlir::FailureOr<Tensors> runEntry(PlanInterpreter &machine, CellMemory &memory, plan::EntryOp entry,
                                  llvm::ArrayRef<Tensor> inputs,
                                  std::map<std::string, Tensor> &variables);

/// Whether the launch is the last of its kernel's, after which the results are there.
bool completes(plan::LaunchOp launch, plan::KernelOp kernel);

/// Gives every action of the plan dialect its Executable interface.
void registerPlanInterpreter(mlir::DialectRegistry &registry);

} // namespace weir

#include "ir/reference/Executable.h.inc"

#endif
