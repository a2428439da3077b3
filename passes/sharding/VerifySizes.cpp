//===- VerifySizes.cpp - What one device has of a tensor -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_VERIFYSIZES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct VerifySizes : weir::impl::VerifySizesBase<VerifySizes> {
  /// The first is told: what follows from it has its size, most likely.
  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto first = [&](auto &&values) {
      return llvm::any_of(values, [&](Value value) { return failed(check(value)); });
    };
    WalkResult all = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto function = dyn_cast<func::FuncOp>(op);
      bool found = function ? first(function.getArguments()) : first(op->getResults());
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (all.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult check(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || fits(type.getShape(), mostOnDevice))
      return success();
    bool isShare = getOperation()->hasAttr(rankAttrName);
    return emitError(value.getLoc())
           << "a tensor of " << printed(type.getShape()) << " elements"
           << (isShare ? ", one rank's," : "") << " is too large for a device: expected at most "
           << mostOnDevice
           << " elements; cut it over more ranks (--mesh), or make it smaller (--set)";
  }
};

} // namespace
