//===- Interpreter.h - What a program means -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs functions of the weir dialect one op at a time, in f64 where a type is floating. This is the
// meaning that passes and back ends are compared with, so it shares no code with them.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_INTERPRETER_H
#define WEIR_IR_REFERENCE_INTERPRETER_H

#include "ir/reference/Tensor.h"
#include "ir/weir/WeirDialect.h"
#include <functional>
#include <map>
#include <string>

namespace weir {

/// An op's operands as they were, by number.
using Before = llvm::function_ref<const Tensor &(unsigned number)>;

class Interpreter {
public:
  /// Runs an entry. Writes change `variables` after it, and not at all when it fails (with a
  /// diagnostic).
  mlir::FailureOr<Tensors> run(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs);

  /// Runs a region's only block and returns what its terminator returns. Values from outside it are
  /// known.
  mlir::FailureOr<Tensors> run(mlir::Block &block, llvm::ArrayRef<Tensor> arguments);

  /// What persists, by name.
  std::map<std::string, Tensor> variables;
  /// The writes of the entry that is running.
  std::map<std::string, Tensor> next;
  /// Whether casts round to low precision. A program that does not is what its gradients are of.
  bool rounds = true;
  /// Multiplications whose results were added up, of all products, convolutions and attention that
  /// were evaluated.
  int64_t multiplyAdds = 0;
  /// Called after every op, where set.
  std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor>)> observe;
  /// Computes every op's results in place of its reference semantics, where set.
  std::function<mlir::FailureOr<Tensors>(mlir::Operation &, Tensors operands, Interpreter &)>
      compute;
  /// Supplies what an op of several ranks gets for what it gives: of a collective both, of what is
  /// sent or received one of them, and nothing for the other.
  std::function<mlir::FailureOr<Tensor>(mlir::Operation *, Tensor input)> exchange;
  /// Which of them runs, where it is one of several.
  int64_t microbatch = 0;
  /// The values that sections have saved, by number and microbatch.
  std::map<std::pair<int64_t, int64_t>, Tensor> saved;
  /// Supplies the results of a weir.gradient, where set: its own are differences, two executions of
  /// what leads to the loss for every element of every source.
  std::function<mlir::FailureOr<Tensors>(GradientOp, Interpreter &)> gradients;

  /// What `result` would be if these values were other ones: executes `ops`, which lead from the
  /// ones to the other, once more. Truth values, integers and what a maximum is taken from stay as
  /// they are (Interpretable::evaluateChosen), within another such execution as they were before
  /// it, but not in ops with regions nor under `compute`. Nothing else remembers it. Known are the
  /// values of the block that runs and of those around it that are used later, in weir.gradient's
  /// paths included.
  using Changed = std::pair<mlir::Value, Tensor>;
  mlir::FailureOr<Tensor> wouldBe(mlir::Value result, llvm::SmallVector<Changed> changed,
                                  llvm::ArrayRef<mlir::Operation *> ops);
  const Tensor &valueOf(mlir::Value value) const { return values.at(value); }

private:
  using Values = llvm::DenseMap<mlir::Value, Tensor>;

  /// With the choices of `moved`, where there are any.
  mlir::LogicalResult evaluate(mlir::Operation &op);
  mlir::LogicalResult execute(mlir::Operation &op);
  bool diesAt(mlir::Value value, mlir::Operation &op) const;

  Values values;
  /// Of each `wouldBe` that runs, the outermost first, what the values that it moves were.
  llvm::SmallVector<const Values *> moved;
  /// The gradient ops of the function that runs, by the values that their paths read.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 1>> paths;
};

/// The ops that lead from sources of a gradient op to its loss, in program order. No gradient flows
/// through weir.stop_gradient, so none leads through it.
llvm::SmallVector<mlir::Operation *> gradientPath(GradientOp op, mlir::ValueRange sources);

/// A direction in which a gradient op's source of that number moves.
struct Along {
  unsigned source;
  Tensor direction;
};

/// The derivative of a gradient op's loss as its sources move along directions, all together: the
/// central difference of two executions of the path, in which choices stay as they are. For use
/// while the op is evaluated, in Interpreter::gradients.
mlir::FailureOr<double> directionalDerivative(GradientOp op, llvm::ArrayRef<Along> along,
                                              Interpreter &interpreter);

/// Gives every weir op that computes something its Interpretable interface.
void registerReferenceInterpreter(mlir::DialectRegistry &registry);

} // namespace weir

#include "ir/reference/Interpretable.h.inc"

#endif
