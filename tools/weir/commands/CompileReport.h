//===- CompileReport.h - weir compile --report ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --report FILE: how much IR a compile handles, as JSON. The numbers depend on the model, its sizes
// and the options alone, not on the machine that compiles.
//
//   phases [{phase, programs, operations}]: of the IR after each pass group of passes/Pipeline.cpp,
//     those of "elaborate" first. Of a mesh, ranks of different sizes or stages have a program
//     each, whose operations are added up; so are those of several meshes.
//   kernels [{step, operations}]: of the code of all kernels after each step of their compile
//     to MLIR: "emitted", "vectorized" and "lowered" for CPUs, none for GPUs.
//
// An operation counts with those nested in it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_COMPILEREPORT_H
#define WEIR_TOOLS_WEIR_COMMANDS_COMPILEREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace weir {

class CompileReport {
public:
  /// Counts and writes nothing if `path` is empty.
  explicit CompileReport(std::string path) : path(std::move(path)) {}

  void addPassGroup(llvm::StringRef group, mlir::ModuleOp program) { add(groups, group, program); }
  /// `code` is null where it is no IR.
  void addKernels(llvm::StringRef step, mlir::ModuleOp code) { add(kernels, step, code); }

  /// Throws Failure(Exit::storage).
  void write() const;

private:
  struct Stage {
    std::string name;
    int64_t modules, operations;
  };
  void add(std::vector<Stage> &stages, llvm::StringRef name, mlir::ModuleOp module);

  std::string path;
  std::vector<Stage> groups, kernels; ///< in the order of their first use
};

} // namespace weir

#endif
