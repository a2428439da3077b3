//===- GradientOp.cpp - What a gradient is --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Central differences, one element after the other. Near a kink (max, abs, a comparison) they are
// the average of both sides, so inputs are to keep away from kinks.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
namespace {

/// How far a value is moved. The error of a difference is of the order of step^2 and of the
/// rounding of the loss divided by the step: 1e-10 of either for numbers around 1.
constexpr double step = 1e-5;

/// The ops that a value is computed from, in program order. They stand in the block of `user` or in
/// blocks around it, one block per depth, so those of outer blocks come first.
llvm::SmallVector<mlir::Operation *> producersOf(mlir::Value value, mlir::Operation *user) {
  llvm::SetVector<mlir::Operation *> producers;
  auto add = [&](mlir::Value operand, mlir::Operation *around) {
    if (mlir::Operation *op = operand.getDefiningOp(); op && !around->isProperAncestor(op))
      producers.insert(op);
  };
  add(value, user);
  for (size_t i = 0; i < producers.size(); ++i)
    producers[i]->walk([&, producer = producers[i]](mlir::Operation *inner) {
      for (mlir::Value operand : inner->getOperands())
        add(operand, producer);
    });
  llvm::SmallVector<mlir::Operation *> sorted(producers.begin(), producers.end());
  llvm::sort(sorted, [](mlir::Operation *a, mlir::Operation *b) {
    if (a->getBlock() == b->getBlock())
      return a->isBeforeInBlock(b);
    return a->getBlock()->getParentOp()->isProperAncestor(b->getBlock()->getParentOp());
  });
  return sorted;
}

/// The loss's derivative when the source moves along `direction`.
mlir::FailureOr<double> difference(GradientOp op, mlir::Value source, const Tensor &direction,
                                   llvm::ArrayRef<mlir::Operation *> path,
                                   Interpreter &interpreter) {
  double losses[2];
  for (int side : {0, 1}) {
    Tensor moved = interpreter.valueOf(source);
    for (auto [value, along] : llvm::zip_equal(moved.values, direction.values))
      value += (side == 0 ? -step : step) * along;
    auto loss = interpreter.wouldBe(op.getLoss(), source, std::move(moved), path);
    if (mlir::failed(loss))
      return mlir::failure();
    losses[side] = loss->values[0];
  }
  return (losses[1] - losses[0]) / (2 * step);
}

} // namespace

llvm::SmallVector<mlir::Operation *> gradientPath(GradientOp gradient, mlir::Value source) {
  llvm::SmallVector<mlir::Operation *> path;
  llvm::DenseSet<mlir::Value> moving{source};
  for (mlir::Operation *op : producersOf(gradient.getLoss(), gradient)) {
    bool moves = false;
    op->walk([&](mlir::Operation *inner) {
      moves |= !llvm::isa<StopGradientOp>(inner) &&
               llvm::any_of(inner->getOperands(),
                            [&](mlir::Value value) { return moving.contains(value); });
    });
    // The source's own op computes it from others: it stays as it was moved.
    if (!moves || source.getDefiningOp() == op)
      continue;
    path.push_back(op);
    moving.insert(op->result_begin(), op->result_end());
  }
  return path;
}

mlir::FailureOr<double> directionalDerivative(GradientOp op, unsigned source,
                                              const Tensor &direction, Interpreter &interpreter) {
  mlir::Value value = op.getSources()[source];
  return difference(op, value, direction, gradientPath(op, value), interpreter);
}

namespace reference {
namespace {

mlir::FailureOr<Tensors> gradient(GradientOp op, Inputs in, Interpreter &interpreter) {
  if (interpreter.gradients)
    return interpreter.gradients(op, interpreter);
  Tensors results;
  for (auto [source, value] : llvm::zip_equal(op.getSources(), in.drop_front())) {
    llvm::SmallVector<mlir::Operation *> path = gradientPath(op, source);
    Tensor result(value.shape), direction(value.shape);
    for (size_t i = 0; i < result.values.size(); ++i) {
      direction.values[i] = 1;
      mlir::FailureOr<double> slope = difference(op, source, direction, path, interpreter);
      if (mlir::failed(slope))
        return mlir::failure();
      result.values[i] = *slope;
      direction.values[i] = 0;
    }
    results.push_back(std::move(result));
  }
  return results;
}

} // namespace

void attachGradient(mlir::MLIRContext &context) { attach<GradientOp, gradient>(context); }

} // namespace reference
} // namespace weir
