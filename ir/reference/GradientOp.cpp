//===- GradientOp.cpp - What a gradient is --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Central differences, one element after the other. What is chosen (max, abs, a comparison) stays
// chosen, so there are no kinks.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Gradient.h"
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
mlir::FailureOr<double> difference(GradientOp op, llvm::ArrayRef<Along> along,
                                   llvm::ArrayRef<mlir::Operation *> path,
                                   Interpreter &interpreter) {
  double losses[2];
  for (int side : {0, 1}) {
    llvm::SmallVector<Interpreter::Changed> moved;
    for (const Along &one : along) {
      mlir::Value source = op.getSources()[one.source];
      moved.emplace_back(source, interpreter.valueOf(source));
      for (auto [value, by] : llvm::zip_equal(moved.back().second.values, one.direction.values))
        value += (side == 0 ? -step : step) * by;
    }
    auto loss = interpreter.wouldBe(op.getLoss(), std::move(moved), path);
    if (mlir::failed(loss))
      return mlir::failure();
    losses[side] = loss->values[0];
  }
  return (losses[1] - losses[0]) / (2 * step);
}

} // namespace

llvm::SmallVector<mlir::Operation *> gradientPath(GradientOp gradient, mlir::ValueRange sources) {
  llvm::SmallVector<mlir::Operation *> path;
  llvm::DenseSet<mlir::Value> moving(sources.begin(), sources.end());
  // A source's own op computes it from others: it stays as it was moved.
  llvm::DenseSet<mlir::Operation *> makers;
  for (mlir::Value source : sources)
    makers.insert(source.getDefiningOp());
  for (mlir::Operation *op : producersOf(gradient.getLoss(), gradient)) {
    bool moves = false;
    op->walk([&](mlir::Operation *inner) {
      moves |= !llvm::isa<StopGradientOp>(inner) &&
               llvm::any_of(inner->getOperands(),
                            [&](mlir::Value value) { return moving.contains(value); });
    });
    if (!moves || makers.contains(op))
      continue;
    path.push_back(op);
    moving.insert(op->result_begin(), op->result_end());
  }
  return path;
}

mlir::FailureOr<double> directionalDerivative(GradientOp op, llvm::ArrayRef<Along> along,
                                              Interpreter &interpreter) {
  llvm::SmallVector<mlir::Value> sources;
  for (const Along &one : along)
    sources.push_back(op.getSources()[one.source]);
  return difference(op, along, gradientPath(op, sources), interpreter);
}

namespace reference {
namespace {

mlir::FailureOr<Tensors> gradient(GradientOp op, Inputs in, Interpreter &interpreter) {
  if (interpreter.gradients)
    return interpreter.gradients(op, interpreter);
  Tensors results;
  for (auto [number, value] : llvm::enumerate(in.drop_front())) {
    auto path = gradientPath(op, mlir::Value(op.getSources()[number]));
    Tensor result(value.shape);
    Along one{static_cast<unsigned>(number), Tensor(value.shape)};
    for (size_t i = 0; i < result.values.size(); ++i) {
      one.direction.values[i] = 1;
      mlir::FailureOr<double> slope = difference(op, one, path, interpreter);
      if (mlir::failed(slope))
        return mlir::failure();
      result.values[i] = *slope;
      one.direction.values[i] = 0;
    }
    results.push_back(std::move(result));
  }
  return results;
}

} // namespace

void attachGradient(mlir::MLIRContext &context) { attach<GradientOp, gradient>(context); }

} // namespace reference
} // namespace weir
