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

/// A stretch of the compile with a name one can stop after.
struct Phase {
  llvm::StringRef name;
  llvm::StringRef summary;
  void (*add)(mlir::OpPassManager &);
};

/// Every phase on weir IR, in order. The frontend comes before them, planning (codegen/plan) after.
llvm::ArrayRef<Phase> phases();

} // namespace weir

#endif
