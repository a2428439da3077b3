//===- Trial.h - Runs a program in f64 and as f32 would -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a program can be compared at all. It is run twice side by side: once as the interpreter
// does, and once with every value rounded to f32. A program is refused (with a reason) where
// rounding could turn a decision (a comparison, a maximum, an integer), where values leave the
// range in which f32 is accurate, and where rounding moves a result too far: there a correct
// compiler may differ.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_TRIAL_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_TRIAL_H

#include "ir/reference/Interpreter.h"

namespace weir::smith {

/// A value in both runs.
struct Known {
  Tensor truth, rounded;
  /// Every correct implementation has these bits: no rounding has happened on the way.
  bool exact = false;
};

/// What an entry gave.
struct TrialResults {
  llvm::SmallVector<Known> results;
  std::map<std::string, Known> writes;
};

class Trial {
public:
  /// Runs an op whose operands are known; false (and `refusal`) where it is refused.
  bool execute(mlir::Operation &op);

  /// Runs an entry; false (and `refusal`) where it is refused.
  bool run(mlir::func::FuncOp function, llvm::ArrayRef<Known> inputs);

  std::map<std::string, Known> variables;
  llvm::DenseMap<mlir::Value, Known> values;
  TrialResults last;
  std::string refusal;
  bool finite = true; ///< false where it is refused since the interpreter gave what is no number
  /// Of the inputs, and of what was rounded of them so far: what a result's rounding comes from.
  double largestNorm = 0;
  /// Called for a weir.gradient, whose results are then unknown, as is all that depends on them; a
  /// program without one needs none.
  std::function<void(GradientOp)> onGradient;

private:
  bool refuse(mlir::Operation &op, const llvm::Twine &why);
  bool runBlock(mlir::Block &block);
  bool runMicrobatches(MicrobatchesOp op);
  bool decided(mlir::Operation &op);
  void noteNorm(mlir::Value value);

  Interpreter interpreter;
};

/// A tensor with each value rounded to what its element type stores.
Tensor rounded(Tensor tensor, mlir::Type type);

/// The data of an input or a variable: uniform in [low, high) as its attributes `smith.low` and
/// `smith.high` say, drawn for its name and the module's `smith.seed`.
Tensor draw(mlir::ModuleOp module, llvm::StringRef name, mlir::Type type,
            mlir::DictionaryAttr attributes);
Tensors drawInputs(mlir::func::FuncOp function);
std::map<std::string, Tensor> drawVariables(mlir::ModuleOp module);

} // namespace weir::smith

#endif
