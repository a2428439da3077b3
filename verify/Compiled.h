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

/// Names unnamed arguments and results of entries: input0, input1, .. and output0, output1, ..;
/// results are whole tensors.
void nameEntryPorts(mlir::ModuleOp module);

/// Adds to a module that is no training run what every artifact has: a recipe, and entries that
/// begin a run and make a step.
void makeTrainable(mlir::ModuleOp module);

/// Compiles weir IR from the frontend, or from any pass up to fusion, as compile() does
/// (passes/Pipeline.h), for a target that makeTarget() accepts. Ports need no names.
mlir::FailureOr<std::vector<std::byte>> compileModule(mlir::ModuleOp module, llvm::StringRef target,
                                                      llvm::ArrayRef<llvm::StringRef> without = {});

/// An artifact loaded in this process. Rounds elements to their storage type when it copies them
/// in.
class CompiledProgram {
public:
  /// Fills scratch, with outputs, with NaN before each entry runs, and dead buffers after their
  /// last use. Throws Failure as Program does.
  explicit CompiledProgram(std::vector<std::byte> artifact, DeviceOptions device = {.threads = 1});

  /// By the names of weir.variable, such as "wte.weight" or "run/step". Ignores names that the
  /// program lacks; variables that are not named do not change.
  void setVariables(const std::map<std::string, Tensor> &values);
  std::map<std::string, Tensor> variables() const;

  /// Runs an existing entry; inputs and outputs are in the order of the function's arguments and
  /// results.
  Tensors run(llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs);

  Program &program() { return *loaded; }

private:
  std::unique_ptr<Program> loaded;
};

} // namespace weir

#endif
