//===- VerifyFused.cpp - Checks that all work is in kernels ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_VERIFYFUSED
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct VerifyFused : weir::impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<KernelOp>(op))
          return WalkResult::skip();
        if (!isa<func::FuncOp, func::ReturnOp, ReadOp, FetchOp, WriteOp, MicrobatchesOp, YieldOp>(
                op) &&
            !isAlias(op)) {
          op->emitError("is in no kernel after fusion");
          signalPassFailure();
        }
        return WalkResult::advance();
      });
  }
};

} // namespace
