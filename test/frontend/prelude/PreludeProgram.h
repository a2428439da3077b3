//===- PreludeProgram.h - A test's model as a module ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_FRONTEND_PRELUDE_PRELUDEPROGRAM_H
#define WEIR_TEST_FRONTEND_PRELUDE_PRELUDEPROGRAM_H

#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/Interpreter.h"
#include "verify/Compiled.h"
#include <map>
#include <memory>

namespace weir::test {

/// A model's text, elaborated; what is wrong with it is a failure of the test.
struct PreludeProgram {
  explicit PreludeProgram(const std::string &text);

  mlir::func::FuncOp entry(llvm::StringRef name) {
    return module->lookupSymbol<mlir::func::FuncOp>(name);
  }

  mlir::MLIRContext context;
  SourceManager sources;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null if it does not elaborate
};

/// A program on the interpreter, before any pass, and compiled: side by side. Throws where either
/// fails.
class TwoRuns {
public:
  explicit TwoRuns(PreludeProgram &program);

  /// The same for both.
  void set(const std::string &variable, const Tensor &value);
  /// Runs both. The outputs of the interpreter and of the compiled program, by name: those of a
  /// ratio are NAME/sum and NAME/count.
  using Outputs = std::map<std::string, Tensor>;
  std::pair<Outputs, Outputs> run(llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs);

  const Tensor &interpreted(const std::string &variable) const {
    return interpreter.variables.at(variable);
  }
  Tensor compiled(const std::string &variable) const { return program->variables().at(variable); }

private:
  Outputs named(llvm::StringRef entry, const Tensors &results) const;

  PreludeProgram &source;
  Interpreter interpreter;
  std::unique_ptr<CompiledProgram> program;
};

/// Something the prelude defines, and what may be left out when it is called.
struct Definition {
  std::string name;
  std::vector<std::string> options;
};

std::vector<Definition> preludeDefinitions();

/// Names what no case covers: a definition, or an option that no call of it sets.
std::vector<std::string>
uncovered(const std::vector<Definition> &definitions,
          const std::vector<std::pair<std::string, std::string>> &definitionsAndCalls);

} // namespace weir::test

#endif
