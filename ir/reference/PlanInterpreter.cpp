//===- PlanInterpreter.cpp - Running a plan action by action --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/reference/PlanInterpreter.h"

#include "ir/plan/PlanOps.h"
#include "ir/reference/Executable.cpp.inc"

namespace weir {

PlanInterpreter::PlanInterpreter(mlir::ModuleOp plan, Memory &memory, Interpreter &interpreter)
    : memory(memory), interpreter(interpreter) {
  for (auto kernel : plan.getOps<plan::KernelOp>())
    kernels[kernel.getSymName()] = kernel;
}

plan::KernelOp PlanInterpreter::kernelOf(plan::LaunchOp launch) const {
  return kernels.lookup(launch.getKernel());
}

bool completes(plan::LaunchOp launch, plan::KernelOp kernel) {
  return launch.getPart() + 1 == kernel.getParts().size();
}

mlir::LogicalResult PlanInterpreter::run(mlir::Block &block) {
  for (mlir::Operation &op : block) {
    auto action = llvm::dyn_cast<Executable>(op);
    if (!action)
      continue;
    if (before)
      before(&op);
    if (mlir::failed(action.execute(*this)))
      return mlir::failure();
    if (after)
      after(&op);
  }
  return mlir::success();
}

mlir::FailureOr<Tensors> runEntry(PlanInterpreter &machine, CellMemory &memory, plan::EntryOp entry,
                                  llvm::ArrayRef<Tensor> inputs,
                                  std::map<std::string, Tensor> &variables) {
  auto module = entry->getParentOfType<mlir::ModuleOp>();
  memory.forgetScratch();
  for (auto variable : module.getOps<plan::VariableOp>())
    memory.storeVariable(variable, variables.at(variable.getSymName().str()));
  size_t given = 0;
  for (auto port : entry.getBody().getOps<plan::PortOp>())
    if (port.getKind() == plan::PortKind::input)
      memory.store(port.getBuffer(), port.getType(), inputs[given++]);
  if (mlir::failed(machine.run(entry.getBody().front())))
    return mlir::failure();
  Tensors outputs;
  for (auto port : entry.getBody().getOps<plan::PortOp>())
    if (port.getKind() != plan::PortKind::input)
      outputs.push_back(memory.load(port.getBuffer(), port.getType()));
  for (auto variable : module.getOps<plan::VariableOp>())
    variables[variable.getSymName().str()] = memory.loadVariable(variable);
  return outputs;
}

} // namespace weir
