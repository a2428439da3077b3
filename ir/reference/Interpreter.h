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
  /// Called after every op, where set.
  std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor>)> observe;

private:
  mlir::LogicalResult execute(mlir::Operation &op);

  llvm::DenseMap<mlir::Value, Tensor> values;
};

/// Gives every weir op that computes something its Interpretable interface.
void registerReferenceInterpreter(mlir::DialectRegistry &registry);

} // namespace weir

#include "ir/reference/Interpretable.h.inc"

#endif
