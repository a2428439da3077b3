//===- ScaleLoss.cpp - Loss scaling, for gradients too small for f16 ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs before autodiff, where the loss is still known. A product with a power of two is exact, so
// the unscaled gradients do not change. What changes is which of them the mixed precision pass
// after autodiff rounds to zero or infinity.
//
// The step itself makes all decisions:
//
//   %s = weir.read @"run/loss_scale"               fine   = the norm of the gradients is finite
//   %h = weir.gradient (%loss * %s) wrt(%w)        grown  = %s * 2 at every 2000th fine step
//   %g = %h * (1 / %s)                             next   = fine ? grown
//   .. the rest of the step, skipped if it                  : the loss is finite ? %s / 2 : %s
//      is not finite, as without a scale ..
//   weir.write @"run/loss_scale", next
//
// If the loss is not finite, the scale is not the cause, because the forward pass does not use it.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/structure/Structure.h"
#include "passes/Passes.h"
#include "passes/recipe/Scalars.h"
#include "support/precision/LossScale.h"

namespace weir {
#define GEN_PASS_DEF_SCALELOSS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Scales the gradients of one entry.
class Scaling {
public:
  Scaling(func::FuncOp entry, const LossScale &scale)
      : entry(entry), scale(scale), place(entry.getLoc()),
        builder(OpBuilder::atBlockBegin(&entry.getBody().front())),
        whole(RankedTensorType::get({}, builder.getI32Type())) {}

  LogicalResult run(ArrayRef<GradientOp> gradients) {
    makeFactors();
    for (GradientOp gradient : gradients)
      scaleGradient(gradient);
    builder.setInsertionPoint(entry.getBody().front().getTerminator());
    if (scale.dynamic && failed(writeNext()))
      return failure();
    return giveOut();
  }

private:
  void makeFactors() {
    if (scale.dynamic) {
      now = ReadOp::create(builder, place, whole, runLossScaleName);
      factor = CastOp::create(builder, place, RankedTensorType::get({}, builder.getF32Type()), now);
      inverse = DivOp::create(builder, place, scalar(builder, place, 1), factor);
    } else {
      factor = scalar(builder, place, scale.start);
      inverse = scalar(builder, place, 1.0 / scale.start);
    }
  }

  void scaleGradient(GradientOp gradient) {
    Location at = gradient.getLoc();
    builder.setInsertionPoint(gradient);
    gradient.getLossMutable().assign(MulOp::create(builder, at, gradient.getLoss(), factor));
    for (Value one : gradient.getGradients()) {
      one = summed(one);
      builder.setInsertionPointAfterValue(one);
      Value wide = spread(builder, at, inverse, shapeOf(one));
      auto unscaled = MulOp::create(builder, at, one, wide);
      unscaled->setAttr(unscalesAttrName, builder.getUnitAttr());
      one.replaceAllUsesExcept(unscaled, unscaled);
    }
  }

  /// The gradient summed over all microbatches, if this sum is its only use. Dividing the sum keeps
  /// the reduction over ranks out of the loop.
  static Value summed(Value gradient) {
    auto loop = dyn_cast<MicrobatchesOp>(gradient.getParentRegion()->getParentOp());
    if (!loop || !gradient.hasOneUse())
      return gradient;
    OpOperand &use = *gradient.use_begin();
    bool isSum = isa<YieldOp>(use.getOwner()) && use.getOperandNumber() < loop.numSums();
    return isSum ? loop.getResult(use.getOperandNumber()) : gradient;
  }

  LogicalResult writeNext() {
    SmallVector<ClipOp> clips(entry.getBody().front().getOps<ClipOp>());
    if (clips.size() != 1)
      return entry.emitError() << "a dynamic loss scale follows the norm of one weir.clip, found "
                               << clips.size();
    Value fine = isFinite(clips.front().getNorm()), forward = lossIsFinite();
    Value good = ReadOp::create(builder, place, whole, runGoodStepsName);
    Value count = AddOp::create(builder, place, good, number(1));
    Value due =
        CompareOp::create(builder, place, Predicate::ge, count, number(LossScale::goodSteps));
    Value twice = AddOp::create(builder, place, now, now);
    Value grown = MinOp::create(builder, place, twice, number(LossScale::most));
    Value half = DivOp::create(builder, place, now, number(2));
    Value shrunk = MaxOp::create(builder, place, half, number(1));
    Value next = choose(fine, choose(due, grown, now), choose(forward, shrunk, now));
    Value since = choose(fine, choose(due, number(0), count), choose(forward, number(0), good));
    WriteOp::create(builder, place, runLossScaleName, next);
    WriteOp::create(builder, place, runGoodStepsName, since);
    return success();
  }

  /// For the sums of the loss.
  Value lossIsFinite() {
    Value all;
    Operation *end = entry.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      if (is(i, outputAttrName, "loss") && is(i, partAttrName, "sum"))
        all = all ? Value(AndOp::create(builder, place, all, isFinite(value))) : isFinite(value);
    if (!all)
      all = ConstantOp::create(builder, place, RankedTensorType::get({}, builder.getI1Type()),
                               builder.getBoolAttr(true));
    return all;
  }

  /// Adds the scale of this step as the last output.
  LogicalResult giveOut() {
    unsigned last = entry.getNumResults();
    NamedAttrList attributes;
    attributes.set(outputAttrName, builder.getStringAttr(lossScaleOutput));
    attributes.set(partAttrName, builder.getStringAttr("scalar"));
    if (failed(entry.insertResult(last, factor.getType(),
                                  attributes.getDictionary(entry.getContext()))))
      return failure();
    Operation *end = entry.getBody().front().getTerminator();
    end->insertOperands(last, factor);
    return success();
  }

  bool is(unsigned result, StringRef attribute, StringRef text) {
    auto found = entry.getResultAttrOfType<StringAttr>(result, attribute);
    return found && found.getValue() == text;
  }
  Value isFinite(Value value) { return IsFiniteOp::create(builder, place, value); }
  Value number(int32_t value) {
    return ConstantOp::create(builder, place, whole, builder.getI32IntegerAttr(value));
  }
  Value choose(Value condition, Value yes, Value no) {
    return SelectOp::create(builder, place, yes.getType(), condition, yes, no);
  }

  func::FuncOp entry;
  const LossScale &scale;
  Location place;
  OpBuilder builder;
  RankedTensorType whole;
  Value now, factor, inverse;
};

struct ScaleLoss : weir::impl::ScaleLossBase<ScaleLoss> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const std::optional<LossScale> asked = strategyOf(module).lossScale;
    if (!asked || !asked->any() || module->hasAttr(lossScaleAttrName))
      return markAllAnalysesPreserved();
    Builder builder(&getContext());
    module->setAttr(lossScaleAttrName, builder.getStringAttr(nameOf(*asked)));
    if (asked->dynamic)
      declareState(module);
    for (auto entry : module.getOps<func::FuncOp>()) {
      SmallVector<GradientOp> gradients;
      entry.walk([&](GradientOp gradient) { gradients.push_back(gradient); });
      if (!gradients.empty() && failed(Scaling(entry, *asked).run(gradients)))
        return signalPassFailure();
    }
  }

  /// After the other scalars of the run.
  static void declareState(ModuleOp module) {
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::run)
        builder.setInsertionPointAfter(variable);
    auto type = RankedTensorType::get({}, builder.getI32Type());
    for (const char *name : {runLossScaleName, runGoodStepsName})
      VariableOp::create(builder, module.getLoc(), name, Role::run, type);
  }
};

} // namespace
