//===- VerifyFused.cpp - Checks that all work is in kernels ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace weir {
#define GEN_PASS_DEF_VERIFYFUSED
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct VerifyFused : weir::impl::VerifyFusedBase<VerifyFused> {
  /// A plan writes to the host's memory where it says so, and a fetch is of the old value.
  void checkFetches(func::FuncOp entry) {
    Block &block = entry.front();
    llvm::StringMap<Operation *> written;
    for (WriteOp write : block.getOps<WriteOp>()) {
      auto variable = getOperation().lookupSymbol<VariableOp>(write.getVariable());
      if (variable && variable.getHost())
        written[write.getVariable()] = write;
    }
    entry.walk([&](FetchOp fetch) {
      auto read = memoryOf(fetch.getValue()).getDefiningOp<ReadOp>();
      Operation *write = read ? written.lookup(read.getVariable()) : nullptr;
      if (!write || block.findAncestorOpInBlock(*fetch)->isBeforeInBlock(write))
        return;
      fetch.emitError("is of a variable that has been written to by then");
      signalPassFailure();
    });
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      checkFetches(function);
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
  }
};

} // namespace
