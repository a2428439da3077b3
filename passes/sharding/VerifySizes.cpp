//===- VerifySizes.cpp - Checks the sizes of a rank's tensors -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_VERIFYSIZES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct VerifySizes : weir::impl::VerifySizesBase<VerifySizes> {
  using VerifySizesBase::VerifySizesBase;
  explicit VerifySizes(std::shared_ptr<Target> target) : made(std::move(target)) {}

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  /// Reports one value, since values computed from it most likely have its size: the first with a
  /// line in the model, or else the first.
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
                              << " is too large for " << made->requirement()
                              << ", whose kernels index at most " << made->mostIndexed()
                              << " elements: shard it over more ranks (--mesh), or make it smaller "
                                 "(--set, --microbatches)";
    signalPassFailure();
  }

private:
  bool isTooLarge(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !fits(type.getShape(), made->mostIndexed());
  }

  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> weir::createVerifySizes(std::shared_ptr<Target> target) {
  return std::make_unique<VerifySizes>(std::move(target));
}
