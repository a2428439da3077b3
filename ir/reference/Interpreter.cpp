//===- Interpreter.cpp - Running a program op by op -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are forgotten after their last use in their block, so that a whole training step fits.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "ir/reference/Models.h"

#include "ir/reference/Interpretable.cpp.inc"

namespace weir {
namespace {

/// Whether no op of the block after this one uses the value.
bool diesAt(mlir::Value value, mlir::Operation &op) {
  return llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
    mlir::Operation *inBlock = op.getBlock()->findAncestorOpInBlock(*user);
    return inBlock && (inBlock == &op || inBlock->isBeforeInBlock(&op));
  });
}

} // namespace

mlir::LogicalResult Interpreter::execute(mlir::Operation &op) {
  auto interpretable = llvm::dyn_cast<Interpretable>(op);
  if (!interpretable)
    return op.emitOpError("has no reference semantics");
  Tensors operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(values.at(operand));
  mlir::FailureOr<Tensors> results = interpretable.evaluate(operands, *this);
  if (mlir::failed(results))
    return mlir::failure();
  assert(results->size() == op.getNumResults());
  if (observe)
    observe(&op, *results);
  for (auto [value, tensor] : llvm::zip(op.getResults(), *results)) {
    assert(llvm::cast<mlir::RankedTensorType>(value.getType()).getShape() ==
           llvm::ArrayRef<int64_t>(tensor.shape));
    values[value] = std::move(tensor);
  }
  for (mlir::Value operand : op.getOperands())
    if (operand.getParentBlock() == op.getBlock() && diesAt(operand, op))
      values.erase(operand);
  return mlir::success();
}

mlir::FailureOr<Tensors> Interpreter::run(mlir::Block &block, llvm::ArrayRef<Tensor> arguments) {
  assert(arguments.size() == block.getNumArguments());
  for (auto [value, tensor] : llvm::zip(block.getArguments(), arguments))
    values[value] = tensor;
  for (mlir::Operation &op : block.without_terminator())
    if (mlir::failed(execute(op)))
      return mlir::failure();
  Tensors results;
  for (mlir::Value value : block.getTerminator()->getOperands())
    results.push_back(values.at(value));
  return results;
}

mlir::FailureOr<Tensors> Interpreter::run(mlir::func::FuncOp function,
                                          llvm::ArrayRef<Tensor> inputs) {
  values.clear();
  next.clear();
  mlir::FailureOr<Tensors> results = run(function.getBody().front(), inputs);
  values.clear();
  if (mlir::succeeded(results))
    for (auto &[name, tensor] : next)
      variables[name] = std::move(tensor);
  return results;
}

void registerReferenceInterpreter(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, WeirDialect *) {
    reference::attachElementwise(*context);
    reference::attachStructure(*context);
    reference::attachReductions(*context);
    reference::attachConvolutions(*context);
    reference::attachComposites(*context);
    reference::attachRandom(*context);
    reference::attachProgram(*context);
  });
}

} // namespace weir
