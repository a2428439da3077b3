//===- Compiled.h - Compiles and runs a module on this machine ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler and the runtime as a function from tensors to tensors, for comparisons with the
// interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_COMPILED_H
#define WEIR_VERIFY_COMPILED_H

#include "ir/reference/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/core/Program.h"
#include <map>
#include <memory>

namespace weir {

/// Gives arguments and results of entries that lack a name the names input0, input1, .. and
/// output0, output1, .., the results as whole tensors.
void nameEntryPorts(mlir::ModuleOp module);

/// Gives a module that is no training run what every artifact has: a recipe, and entries that begin
/// and make a step.
void makeTrainable(mlir::ModuleOp module);

/// Compiles weir IR as the frontend makes it, or anything up to fusion, whose ports need no names,
/// as compile() does (passes/Pipeline.h), for a target that makeTarget() takes.
mlir::FailureOr<std::vector<std::byte>> compileModule(mlir::ModuleOp module, llvm::StringRef target,
                                                      llvm::ArrayRef<llvm::StringRef> without = {});

/// An artifact loaded here. Elements are rounded to their storage type on the way in.
class CompiledProgram {
public:
  /// Scratch, outputs included, is filled with NaN before each entry runs, and what is dead after
  /// it was used last. Throws Failure as Program does.
  explicit CompiledProgram(std::vector<std::byte> artifact, DeviceOptions device = {.threads = 1});

  /// By the names of weir.variable, such as "wte.weight" or "run/step". Names that the program does
  /// not have are passed over, and variables that are not named stay as they are.
  void setVariables(const std::map<std::string, Tensor> &values);
  std::map<std::string, Tensor> variables() const;

  /// Runs an entry that exists; inputs and outputs in the order of the function's arguments and
  /// results.
  Tensors run(llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs);

  Program &program() { return *loaded; }

private:
  std::unique_ptr<Program> loaded;
};

} // namespace weir

#endif
