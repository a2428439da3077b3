//===- VerifyRecipe.cpp - Checks that no op of the recipe is left ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after the recipe's passes, because fusion and planning do not support their ops.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/program/Access.h"
#include "ir/weir/recipe/Recipe.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_VERIFYRECIPE
#include "passes/Passes.h.inc"

namespace {
struct VerifyRecipe : impl::VerifyRecipeBase<VerifyRecipe> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    getOperation().walk([&](mlir::Operation *op) {
      auto write = llvm::dyn_cast<WriteOp>(op);
      if (!llvm::isa<LossOp, ClipOp, AllFiniteOp>(op) && !(write && write.getCondition()))
        return;
      op->emitOpError(write ? "has a condition after the recipe's passes"
                            : "is left after the recipe's passes");
      signalPassFailure();
    });
  }
};
} // namespace
} // namespace weir
