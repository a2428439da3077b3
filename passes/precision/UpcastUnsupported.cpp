//===- UpcastUnsupported.cpp - Widens unsupported operands ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs just before fusion, after every pass that merges equal ops. Each product gets a wide copy of
// its own, which lives only as long as the product: the saved tensor is the low-precision one. The
// operands of one product end in one type: f32, unless the target multiplies a narrower one.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Phase.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_UPCASTUNSUPPORTED
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct UpcastUnsupported : weir::impl::UpcastUnsupportedBase<UpcastUnsupported> {
  using UpcastUnsupportedBase::UpcastUnsupportedBase;
  explicit UpcastUnsupported(std::shared_ptr<Target> target) : made(std::move(target)) {}

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    bool any = false;
    Phases phases;
    getOperation().walk([&](Operation *op) {
      auto castable = dyn_cast<Castable>(op);
      if (!castable)
        return;
      if (factorsOf(op) && !made->roundsFactors()) {
        if (factorsOf(op) == Precision::tf32) {
          op->emitError() << "has precision tf32, but " << made->requirement()
                          << " cannot multiply tf32: give it precision f32, or compile for a GPU "
                             "(--target cuda)";
          return signalPassFailure();
        }
        setFactors(op, std::nullopt);
        any = true;
      }
      if (castable.castRule().multiplies != Multiplies::low)
        return;
      if (auto product = dyn_cast<MatmulOp>(op); product && isMultiplied(product))
        return;
      Type factor;
      for (Value operand : op->getOperands()) {
        Type type = tensorType(operand).getElementType();
        Type own = isLow(type) ? made->factorType(type) : type;
        factor = !factor || factor == own ? own : Float32Type::get(&getContext());
      }
      PhaseListener phase(phases.of(op));
      OpBuilder builder(op, &phase);
      for (OpOperand &operand : op->getOpOperands()) {
        auto to = [&](Type element) {
          auto type = tensorType(operand.get());
          if (type.getElementType() == element)
            return;
          any = true;
          operand.set(CastOp::create(builder, op->getLoc(), type.clone(element), operand.get()));
        };
        if (tensorType(operand.get()).getElementType() != factor)
          to(builder.getF32Type()); // all casts go through f32
        to(factor);
      }
    });
    if (!any)
      markAllAnalysesPreserved();
  }

private:
  /// Keeps an f8 operand.
  bool isMultiplied(MatmulOp product) {
    auto element = [](Value value) { return tensorType(value).getElementType(); };
    return !product.getTransposeLhs() && product.getTransposeRhs() &&
           made->multiplies(product, element(product.getLhs()), element(product.getRhs()));
  }

  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> weir::createUpcastUnsupported(std::shared_ptr<Target> target) {
  return std::make_unique<UpcastUnsupported>(std::move(target));
}
