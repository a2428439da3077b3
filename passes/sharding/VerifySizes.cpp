//===- VerifySizes.cpp - Checks the sizes of a rank's tensors -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Locations.h"
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
  /// One is told: what follows from it has its size, most likely. The first of which the model has
  /// a line.
  void runOnOperation() override {
    markAllAnalysesPreserved();
    Value first;
    auto look = [&](auto &&values) {
      for (Value value : values)
        if (isTooLarge(value) &&
            (!first || (!modelLine(first.getLoc()) && modelLine(value.getLoc()))))
          first = value;
    };
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        look(function.getArguments());
      look(op->getResults());
    });
    if (!first)
      return;
    emitError(first.getLoc()) << "a tensor of " << printed(shapeOf(first)) << " elements"
                              << (getOperation()->hasAttr(rankAttrName) ? " on one rank" : "")
                              << " is too large for a device: expected at most " << mostOnDevice
                              << " elements; shard it over more ranks (--mesh), or make it smaller "
                                 "(--set)";
    signalPassFailure();
  }

  static bool isTooLarge(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !fits(type.getShape(), mostOnDevice);
  }
};

} // namespace
