//===- Models.h - Attaching reference semantics to ops --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each family of ops (one .cpp) is a list of functions evaluate(Op, operands), one per op, and
// attaches them here.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_MODELS_H
#define WEIR_IR_REFERENCE_MODELS_H

#include "ir/reference/Interpreter.h"
#include <cmath>

namespace weir::reference {

/// The operands of one op.
using Inputs = llvm::ArrayRef<Tensor>;

/// The function `evaluate` of one op, as its interface. Ops that need the interpreter take it as a
/// third argument. Ops that choose have another one, `chosenOp(Op, operands, before)`, which may
/// take it as a fourth.
template <class Op, auto evaluateOp, auto chosenOp>
struct Model : Interpretable::ExternalModel<Model<Op, evaluateOp, chosenOp>, Op> {
  mlir::FailureOr<Tensors> evaluate(mlir::Operation *op, Inputs operands,
                                    Interpreter &interpreter) const {
    if constexpr (std::is_invocable_v<decltype(evaluateOp), Op, Inputs, Interpreter &>)
      return evaluateOp(llvm::cast<Op>(op), operands, interpreter);
    else
      return Tensors(evaluateOp(llvm::cast<Op>(op), operands));
  }

  mlir::FailureOr<Tensors> evaluateChosen(mlir::Operation *op, Inputs operands, Before before,
                                          Interpreter &interpreter) const {
    if constexpr (std::is_null_pointer_v<decltype(chosenOp)>)
      return evaluate(op, operands, interpreter);
    else if constexpr (std::is_invocable_v<decltype(chosenOp), Op, Inputs, Before, Interpreter &>)
      return chosenOp(llvm::cast<Op>(op), operands, before, interpreter);
    else
      return chosenOp(llvm::cast<Op>(op), operands, before);
  }
};

template <class Op, auto evaluateOp, auto chosenOp = nullptr>
void attach(mlir::MLIRContext &context) {
  Op::template attachInterface<Model<Op, evaluateOp, chosenOp>>(context);
}

/// Whether a is the larger element: NaN is larger than all numbers.
inline bool isLarger(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

void attachElementwise(mlir::MLIRContext &context);
void attachStructure(mlir::MLIRContext &context);
void attachReductions(mlir::MLIRContext &context);
void attachConvolutions(mlir::MLIRContext &context);
void attachComposites(mlir::MLIRContext &context);
void attachRandom(mlir::MLIRContext &context);
void attachCollective(mlir::MLIRContext &context);
void attachProgram(mlir::MLIRContext &context);
void attachGradient(mlir::MLIRContext &context);
void attachRecipe(mlir::MLIRContext &context);

} // namespace weir::reference

#endif
