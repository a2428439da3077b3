//===- MergeEqual.cpp - Merges equal ops and kernels ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/simplify/SavedPhases.h"

namespace weir {
#define GEN_PASS_DEF_MERGEEQUAL
#include "passes/Passes.h.inc"

namespace {

struct MergeEqual : impl::MergeEqualBase<MergeEqual> {
  void runOnOperation() override {
    SavedPhases phases(getOperation());
    mlir::IRRewriter rewriter(&getContext(), &phases);
    mlir::DominanceInfo dominance(getOperation());
    bool merged = false;
    mlir::eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &merged);
    phases.restore();
    if (!merged)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace weir
