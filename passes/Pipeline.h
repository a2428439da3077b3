//===- Pipeline.h - The compile, phase by phase ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PIPELINE_H
#define WEIR_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace weir {

/// A pass at its place in the compile.
struct PipelinePass {
  llvm::StringRef name; ///< tells the places apart where a pass stands in several
  bool optional;        ///< the program compiles, to the same results, without it
  void (*add)(mlir::OpPassManager &);
};

/// A stretch of the compile with a name one can stop after.
struct Phase {
  llvm::StringRef name;
  llvm::StringRef summary;
  llvm::ArrayRef<PipelinePass> passes;

  /// Adds all passes but those named.
  void add(mlir::OpPassManager &manager, llvm::ArrayRef<llvm::StringRef> without = {}) const;
};

/// Every phase on weir IR, in order. The frontend comes before them, planning (codegen/plan) after.
llvm::ArrayRef<Phase> phases();

} // namespace weir

#endif
