//===- WidenFactors.cpp - Products in types that the target multiplies ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs just before fusion, behind everything that merges equal ops: a product has a wide copy of
// its own, which lives no longer than the product, and what is kept for it is the low one.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/WeirDialect.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_WIDENFACTORS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct WidenFactors : weir::impl::WidenFactorsBase<WidenFactors> {
  using WidenFactorsBase::WidenFactorsBase;
  explicit WidenFactors(std::shared_ptr<Target> target) : made(std::move(target)) {}

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    bool any = false;
    getOperation().walk([&](Operation *op) {
      auto castable = dyn_cast<Castable>(op);
      if (!castable || castable.castRule().multiplies != Multiplies::low)
        return;
      for (OpOperand &operand : op->getOpOperands()) {
        auto tensor = tensorType(operand.get());
        if (!isLow(tensor.getElementType()))
          continue;
        Type factor = made->factorType(tensor.getElementType());
        if (factor == tensor.getElementType())
          continue;
        any = true;
        OpBuilder builder(op);
        operand.set(CastOp::create(builder, op->getLoc(), tensor.clone(factor), operand.get()));
      }
    });
    if (!any)
      markAllAnalysesPreserved();
  }

private:
  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> weir::createWidenFactors(std::shared_ptr<Target> target) {
  return std::make_unique<WidenFactors>(std::move(target));
}
