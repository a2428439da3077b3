//===- CountFlops.cpp - Counts the model FLOPs of a step ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Contracting.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_COUNTFLOPS
#include "passes/Passes.h.inc"

namespace {

struct CountFlops : impl::CountFlopsBase<CountFlops> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<mlir::func::FuncOp>())
      setModelFlops(getOperation(), entry.getSymName(), modelFlopsOf(entry));
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace weir
