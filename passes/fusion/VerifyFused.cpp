//===- VerifyFused.cpp - Checks that all computation is in kernels --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Collectives.h"
#include "ir/weir/Program.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/program/Yield.h"
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
  void checkFetches(func::FuncOp entry, const llvm::StringSet<> &onHost) {
    Block &block = entry.front();
    llvm::StringMap<Operation *> written;
    for (WriteOp write : block.getOps<WriteOp>())
      if (onHost.contains(write.getVariable()))
        written[write.getVariable()] = write;
    entry.walk([&](FetchOp fetch) {
      Operation *maker = memoryOf(fetch.getValue()).getDefiningOp();
      auto read = dyn_cast_or_null<ReadOp>(maker);
      if (!isa_and_nonnull<PutOp>(maker) && !(read && onHost.contains(read.getVariable()))) {
        fetch.emitError("is of what does not lie with the host");
        signalPassFailure();
      }
      Operation *write = read ? written.lookup(read.getVariable()) : nullptr;
      if (!write || block.findAncestorOpInBlock(*fetch)->isBeforeInBlock(write))
        return;
      fetch.emitError("is of a variable that has been written to by then");
      signalPassFailure();
    });
  }

  /// What a put makes is in the host's memory, and kernels read the device's.
  void checkPut(PutOp put) {
    for (Operation *user : put.getResult().getUsers())
      if (!isa<FetchOp>(user)) {
        user->emitError("reads what lies with the host, which only weir.fetch may");
        signalPassFailure();
      }
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    llvm::StringSet<> onHost = variablesOnHost(getOperation());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (failed(requireBody(function)))
        return signalPassFailure();
      checkFetches(function, onHost);
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<KernelOp>(op))
          return WalkResult::skip();
        if (auto put = dyn_cast<PutOp>(op))
          checkPut(put);
        if (!isa<func::FuncOp, func::ReturnOp, ReadOp, FetchOp, PutOp, WriteOp, MicrobatchesOp,
                 YieldOp, SendOp, ReceiveOp, KeepOp, KeptOp>(op) &&
            !isCollective(op) && !isPacking(op) && !isAlias(op)) {
          op->emitError("is in no kernel after fusion");
          signalPassFailure();
        }
        return WalkResult::advance();
      });
    }
  }
};

} // namespace
