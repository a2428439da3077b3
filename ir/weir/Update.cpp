//===- Update.cpp - What of a program is the update of its parameters -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Update.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/recipe/Recipe.h"

using namespace mlir;

namespace weir {

bool isUpdate(WriteOp write) {
  auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(write, write.getVariableAttr());
  return variable && variable.getRole() != Role::state;
}

llvm::DenseSet<Operation *> opsBesideUpdate(func::FuncOp function) {
  llvm::DenseSet<Operation *> ops;
  SmallVector<Operation *> open;
  auto needs = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && !isa<AllFiniteOp>(maker) && ops.insert(maker).second)
        open.push_back(maker);
  };
  function.walk([&](Operation *op) {
    auto write = dyn_cast<WriteOp>(op);
    if (isa<func::ReturnOp, GradientOp>(op) || (write && !isUpdate(write)))
      needs(op);
  });
  while (!open.empty())
    open.pop_back_val()->walk([&](Operation *op) {
      ops.insert(op);
      needs(op);
    });
  return ops;
}

} // namespace weir
