//===- Interpreter.cpp - Running a program op by op -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are forgotten after their last use in their block, so that a whole training step fits.
// What leads to a loss is used once more by the gradient op.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "ir/reference/Models.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include <utility>

#include "ir/reference/Interpretable.cpp.inc"

namespace weir {

/// Whether no op of the block after this one uses the value.
bool Interpreter::diesAt(mlir::Value value, mlir::Operation &op) const {
  auto isOver = [&](mlir::Operation *user) {
    mlir::Operation *inBlock = op.getBlock()->findAncestorOpInBlock(*user);
    return inBlock && (inBlock == &op || inBlock->isBeforeInBlock(&op));
  };
  auto path = paths.find(value);
  return llvm::all_of(value.getUsers(), isOver) &&
         (path == paths.end() || llvm::all_of(path->second, isOver));
}

mlir::LogicalResult Interpreter::evaluate(mlir::Operation &op) {
  auto interpretable = llvm::dyn_cast<Interpretable>(op);
  if (!interpretable)
    return op.emitOpError("has no reference semantics");
  Tensors operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(values.at(operand));
  auto was = [&](unsigned number) -> const Tensor & {
    for (const Values *before : moved)
      if (auto found = before->find(op.getOperand(number)); found != before->end())
        return found->second;
    return operands[number];
  };
  mlir::FailureOr<Tensors> results = mlir::failure();
  if (compute)
    results = compute(op, operands, *this);
  else if (moved.empty())
    results = interpretable.evaluate(operands, *this);
  else
    results = interpretable.evaluateChosen(operands, was, *this);
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
  return mlir::success();
}

mlir::LogicalResult Interpreter::execute(mlir::Operation &op) {
  if (mlir::failed(evaluate(op)))
    return mlir::failure();
  auto forget = [&](mlir::Value value) {
    if (value.getParentBlock() == op.getBlock() && diesAt(value, op))
      values.erase(value);
  };
  llvm::for_each(op.getOperands(), forget);
  if (llvm::isa<GradientOp, MicrobatchesOp>(op))
    for (const auto &[value, gradients] : paths)
      forget(value);
  return mlir::success();
}

mlir::FailureOr<Tensor> Interpreter::wouldBe(mlir::Value result, llvm::SmallVector<Changed> changed,
                                             llvm::ArrayRef<mlir::Operation *> ops) {
  Values before;
  moved.push_back(&before);
  for (auto &[value, other] : changed)
    before[value] = std::exchange(values.at(value), std::move(other));
  auto watching = std::exchange(observe, nullptr);

  llvm::SmallVector<mlir::Value> made;
  bool ok = llvm::all_of(ops, [&](mlir::Operation *op) {
    auto moves = [](mlir::Type type) {
      return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
    };
    if (llvm::none_of(op->getResultTypes(), moves))
      return true;
    for (mlir::Value value : op->getResults()) {
      if (auto found = values.find(value); found != values.end())
        before[value] = std::move(found->second);
      made.push_back(value);
    }
    return succeeded(evaluate(*op));
  });
  mlir::FailureOr<Tensor> answer = mlir::failure();
  if (ok)
    answer = values.at(result);

  observe = std::move(watching);
  moved.pop_back();
  for (mlir::Value value : made)
    values.erase(value);
  for (auto &[value, tensor] : before)
    values[value] = std::move(tensor);
  return answer;
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

/// The values that a gradient's paths read, those of a gradient of a gradient included.
static void collectReads(GradientOp gradient, llvm::DenseSet<mlir::Value> &read) {
  for (mlir::Value source : gradient.getSources())
    for (mlir::Operation *op : gradientPath(gradient, source))
      op->walk([&](mlir::Operation *inner) {
        read.insert(inner->operand_begin(), inner->operand_end());
        if (auto other = llvm::dyn_cast<GradientOp>(inner))
          collectReads(other, read);
      });
}

mlir::FailureOr<Tensors> Interpreter::run(mlir::func::FuncOp function,
                                          llvm::ArrayRef<Tensor> inputs) {
  values.clear();
  next.clear();
  saved.clear();
  paths.clear();
  function.walk([&](GradientOp gradient) {
    llvm::DenseSet<mlir::Value> read;
    collectReads(gradient, read);
    for (mlir::Value value : read)
      paths[value].push_back(gradient);
  });
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
    reference::attachCollective(*context);
    reference::attachProgram(*context);
    reference::attachGradient(*context);
    reference::attachRecipe(*context);
  });
}

} // namespace weir
