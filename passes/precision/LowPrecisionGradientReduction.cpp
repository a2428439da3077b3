//===- LowPrecisionGradientReduction.cpp - Low-precision gradient sums ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after mixed precision, which leaves the gradients of parameters in f32, and before clipping,
// because weir.clip names them. Each gradient is rounded once per step, after the sum over its
// microbatches, and while it is multiplied by the loss scale, so that f16 can represent it:
//
//   %g = weir.mul %sum, %inverse       %l = weir.cast %sum {weir.parts} : f32 -> bf16
//   weir.clip %g                  ->   %w = weir.cast %l : bf16 -> f32
//                                      %g = weir.mul %w, %inverse
//                                      weir.clip %g
//
// With weir.parts, each rank of a mesh rounds its own term of the sum, and the ranks add up the
// rounded terms.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/recipe/Recipe.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
#define GEN_PASS_DEF_LOWPRECISIONGRADIENTREDUCTION
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Whether the op divides by the loss scale.
bool unscales(Operation *op) { return op && op->hasAttr(unscalesAttrName); }

struct LowPrecisionGradientReduction
    : weir::impl::LowPrecisionGradientReductionBase<LowPrecisionGradientReduction> {
  void runOnOperation() override {
    const Strategy &strategy = strategyOf(getOperation());
    const Type low = typeOf(&getContext(), *strategy.gradReduceType);
    llvm::SetVector<Value> sums;
    if (isLow(low))
      getOperation().walk([&](ClipOp clip) {
        for (Value gradient : clip.getGradients())
          if (RankedTensorType of = tensorType(gradient);
              of.getElementType().isF32() && of.getRank() > 0)
            sums.insert(unscales(gradient.getDefiningOp()) ? gradient.getDefiningOp()->getOperand(0)
                                                           : gradient);
      });
    if (sums.empty())
      return markAllAnalysesPreserved();
    for (Value sum : sums)
      if (OpOperand *addend = strategy.reducesInMicrobatches() ? addendOf(sum) : nullptr)
        addend->set(rounded(addend->get(), low));
      else
        round(sum, low);
  }

private:
  /// What each microbatch adds to the sum; null if it is no sum over microbatches.
  static OpOperand *addendOf(Value sum) {
    auto loop = sum.getDefiningOp<MicrobatchesOp>();
    const unsigned number = loop ? cast<OpResult>(sum).getResultNumber() : 0;
    return loop && number < loop.numSums()
               ? &loop.getBody().front().getTerminator()->getOpOperand(number)
               : nullptr;
  }

  /// The value, whose parts on ranks are sent in the type `low`.
  static Value rounded(Value sum, Type low) {
    OpBuilder builder(sum.getContext());
    builder.setInsertionPointAfterValue(sum);
    RankedTensorType wide = tensorType(sum);
    auto narrow = CastOp::create(builder, sum.getLoc(), wide.clone(low), sum);
    narrow->setAttr(partsAttrName, builder.getUnitAttr());
    return CastOp::create(builder, sum.getLoc(), wide, narrow);
  }

  /// For users of this gradient, except other gradients that contain it.
  void round(Value sum, Type low) {
    Value widened = rounded(sum, low);
    Operation *narrow = widened.getDefiningOp()->getOperand(0).getDefiningOp();
    sum.replaceUsesWithIf(widened, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return user != narrow && (isa<ClipOp>(user) || unscales(user) ||
                                user->hasTrait<OpTrait::IsTerminator>() || !isBackward(user));
    });
  }
};

} // namespace
