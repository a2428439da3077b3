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
  /// A plan writes to the host's memory where it says so, and a reload is of the old value.
  void checkReloads(func::FuncOp entry, const llvm::StringSet<> &onHost) {
    Block &block = entry.front();
    llvm::StringMap<Operation *> written;
    for (WriteOp write : block.getOps<WriteOp>())
      if (onHost.contains(write.getVariable()))
        written[write.getVariable()] = write;
    entry.walk([&](ReloadOp reload) {
      Operation *maker = memoryOf(reload.getValue()).getDefiningOp();
      auto read = dyn_cast_or_null<ReadOp>(maker);
      if (!isa_and_nonnull<OffloadOp>(maker) && !(read && onHost.contains(read.getVariable()))) {
        reload.emitError("is of what does not lie with the host");
        signalPassFailure();
      }
      Operation *write = read ? written.lookup(read.getVariable()) : nullptr;
      if (!write || block.findAncestorOpInBlock(*reload)->isBeforeInBlock(write))
        return;
      reload.emitError("is of a variable that has been written to by then");
      signalPassFailure();
    });
  }

  /// The result of an offload is in host memory, and kernels read device memory.
  void checkOffload(OffloadOp offload) {
    for (Operation *user : offload.getResult().getUsers())
      if (!isa<ReloadOp>(user)) {
        user->emitError("reads what lies with the host, which only weir.reload may");
        signalPassFailure();
      }
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    llvm::StringSet<> onHost = variablesOnHost(getOperation());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (failed(requireBody(function)))
        return signalPassFailure();
      checkReloads(function, onHost);
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<KernelOp>(op))
          return WalkResult::skip();
        if (auto offload = dyn_cast<OffloadOp>(op))
          checkOffload(offload);
        if (!isa<func::FuncOp, func::ReturnOp, ReadOp, ReloadOp, OffloadOp, WriteOp, MicrobatchesOp,
                 YieldOp, SendOp, ReceiveOp, SaveOp, SavedOp>(op) &&
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
