//===- MixedPrecision.cpp - Inserts casts to low precision ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs on the whole step: after autodiff, which differentiates the program as written, and before
// clipping, because weir.clip names the gradients. This pass changes numbers: the program after it
// has another meaning than the program before it.
//
// A value is rounded once, where it is defined, for all its uses. The result of a product is
// rounded after its bias is added, and the bias is rounded too. In f8, this rounding is to bf16,
// and the operands of products are then rounded once more, with scales (Scaler.h). A composite op
// computes from its input without rounding it. Its gradient reads the saved input, which is
// rounded:
//
//   %y, %mean, %rstd = weir.normalize %x            %l = weir.cast %x -> bf16, %w = weir.cast %l
//   %g = weir.mul %y, %cotangent               ->   %g = weir.mul ((%w - %mean) * %rstd), ..
//   weir.normalize_grad %x, %mean, ..               weir.normalize_grad %w, %mean, ..
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/interfaces/Statistics.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "passes/precision/Explain.h"
#include "passes/precision/StepParts.h"
#include "support/precision/Precision.h"
#include <map>

namespace weir {
#define GEN_PASS_DEF_MIXEDPRECISION
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

bool isF32(Value value) { return tensorType(value).getElementType().isF32(); }

/// Whether the value, or the source of its views and casts, is one of them.
bool isOf(const llvm::DenseSet<Value> &values, Value value) {
  while (!values.contains(value)) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<View, CastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

/// Whether each microbatch adds the same value: a view of a parameter, or of a whole input of the
/// entry.
bool isBias(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ReadOp>(op))
      return true;
    if (!isa<View>(op))
      return false;
    value = op->getOperand(0);
  }
  return isa<func::FuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
}

/// The addition of a bias to the value, if it is the value's only use. Not one after an activation:
/// if the activation's gradient reads its input, the input has two uses in a step, but one in
/// evaluation, which would then round in another place.
AddOp biasAdded(Value product) {
  for (Value value = product; value.hasOneUse();) {
    Operation *user = *value.getUsers().begin();
    if (auto add = dyn_cast<AddOp>(user))
      return isBias(add.getLhs() == value ? add.getRhs() : add.getLhs()) ? add : AddOp();
    auto view = dyn_cast<View>(user);
    if (!view || view.use() != ViewUse::each)
      return {};
    value = user->getResult(0);
  }
  return {};
}

/// Makes users that belong to the backward pass read the result of `make` instead of `value` or a
/// view of it. Calls `make` only if there is such a user; if it returns null, nothing changes.
void replaceBehind(Value value, llvm::function_ref<Value()> make,
                   const llvm::DenseSet<Value> &forward) {
  Value known;
  auto copy = [&] { return known ? known : known = make(); };
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    Operation *user = use.getOwner();
    if (llvm::none_of(user->getResults(), [&](Value one) { return forward.contains(one); })) {
      if (user->getNumResults() == 0)
        continue; // it is an output
      if (Value other = copy())
        use.set(other);
    } else if (isa<View>(user)) {
      auto moved = [&]() -> Value {
        Value other = copy();
        if (!other)
          return {};
        OpBuilder builder(user->getContext());
        builder.setInsertionPointAfterValue(other);
        Operation *again = builder.clone(*user);
        again->setOperand(0, other);
        return again->getResult(0);
      };
      replaceBehind(user->getResult(0), moved, forward);
    }
  }
}

struct MixedPrecision : weir::impl::MixedPrecisionBase<MixedPrecision> {
  void runOnOperation() override {
    precision = *strategyOf(getOperation()).precision;
    bool any = false;
    SmallVector<PrecisionRecord> choices;
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      Decisions decisions;
      any |= roundEntry(entry, decisions);
      if (entry.getSymName() == "step")
        choices = explain(entry, decisions);
      entry.walk([&](Operation *op) {
        any |= precisionOverrideOf(op).has_value();
        clearPrecisionOverride(op);
      });
    }
    // If everything is f32, there is nothing to report.
    if (llvm::any_of(choices, [&](const PrecisionRecord &one) {
          return any || isLow(one.computes) || isLow(one.stores);
        }))
      setPrecisionReport(getOperation(), choices);
    else if (!any)
      markAllAnalysesPreserved();
  }

private:
  /// The type to which the op's operands are rounded.
  Precision precisionOf(Operation *op) const { return precisionOverrideOf(op).value_or(precision); }

  bool isRounded(Operation *op) const {
    return takesPrecision(op) && precisionOf(op) != Precision::f32;
  }

  /// Returns whether it rounded anything.
  bool roundEntry(func::FuncOp entry, Decisions &decisions) {
    auto found = entry.walk([&](Operation *op) {
      return isRounded(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return false;
    // Unused gradients would count as users of their operands.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, entry.getBody());

    SmallVector<Value> gradients;
    entry.walk([&](ClipOp clip) { llvm::append_range(gradients, clip.getGradients()); });
    decisions.optimizer = optimizerOf(entry, gradients);
    decisions.exact = productsOf(gradients, forwardOf(entry, gradients, {}));

    // Products first: other ops that read their results then read the rounded ones.
    SmallVector<Operation *> products, composites;
    entry.walk([&](Operation *op) {
      if (!isRounded(op) || decisions.optimizer.contains(op))
        return;
      if (precisionOf(op) == Precision::tf32)
        setFactors(op, multiplies(op) ? std::optional(Precision::tf32) : std::nullopt);
      else
        (multiplies(op) ? products : composites).push_back(op);
    });

    std::map<Element, Rounder> rounders;
    auto rounderOf = [&](Operation *op) -> Rounder & {
      Element low = rowOf(precisionOf(op)).stored;
      return rounders.try_emplace(low, typeOf(&getContext(), low), decisions.rounded).first->second;
    };
    for (Operation *op : products)
      if (!decisions.exact.contains(op))
        for (Value result : resultsOf(op))
          roundResult(result, rounderOf(op));
    SmallVector<OpOperand *> factors;
    for (Operation *op : products) {
      auto low = roundOperands(op, rounderOf(op), "what a product multiplies");
      // Attention multiplies values that it computes itself.
      if (cast<Castable>(op).castRule().multiplies == Multiplies::wide)
        setFactors(op, precisionNamed(nameOf(rowOf(precisionOf(op)).stored)));
      if (rowOf(precisionOf(op)).scales != Scales::none)
        llvm::append_range(factors, low);
    }
    llvm::DenseSet<Value> forward = forwardOf(entry, gradients, composites);
    for (Operation *op : composites) {
      auto read = compositesBefore(op);
      if (read.empty())
        continue;
      roundOperands(op, rounderOf(op), "what a composite's gradient reads");
      for (Operation *composite : read)
        readRounded(cast<Decomposable>(composite), rounderOf(op), forward);
    }
    for (auto &[element, rounder] : rounders)
      rounder.roundForSums(forward);
    scaleFactors(entry, forward, factors, decisions);
    return true;
  }

  /// Rounds operands of products once more. A value that both passes multiply is rounded as in the
  /// forward pass.
  void scaleFactors(func::FuncOp entry, const llvm::DenseSet<Value> &forward,
                    ArrayRef<OpOperand *> factors, Decisions &decisions) {
    SmallVector<LowFactor> scaled;
    for (OpOperand *factor : factors) {
      const PrecisionRow &row = rowOf(precisionOf(factor->getOwner()));
      Element low = isOf(forward, factor->get()) ? row.forward : row.backward;
      scaled.push_back({factor, {typeOf(&getContext(), low), row.scales}});
    }
    Scaler(entry, decisions.scaled, decisions.rounded).scale(scaled, "what a product multiplies");
  }

  /// After the bias, which is rounded, too: libraries add a bias of the result's type.
  static void roundResult(Value result, Rounder &rounder) {
    AddOp add = biasAdded(result);
    if (!add)
      return rounder.round(result, "what a product gives");
    for (OpOperand &operand : add->getOpOperands())
      if (isBias(operand.get()))
        operand.set(rounder.widened(operand.get(), "a product's bias"));
    rounder.round(add.getResult(), "what a product gives");
  }

  /// The results that may be low-precision, and are f32.
  static SmallVector<Value> resultsOf(Operation *op) {
    SmallVector<Value> results;
    CastRule rule = cast<Castable>(op).castRule();
    for (auto [result, may] : llvm::zip_equal(op->getResults(), rule.results))
      if (may && isF32(result))
        results.push_back(result);
    return results;
  }

  /// Rounds operands, and returns those that are low-precision now.
  static SmallVector<OpOperand *> roundOperands(Operation *op, Rounder &rounder, StringRef what) {
    SmallVector<OpOperand *> low;
    CastRule rule = cast<Castable>(op).castRule();
    for (auto [operand, may] : llvm::zip_equal(op->getOpOperands(), rule.operands)) {
      if (!may || !isF32(operand.get()))
        continue;
      if (rule.multiplies == Multiplies::low) {
        operand.set(rounder.rounded(operand.get(), what));
        low.push_back(&operand);
      } else {
        operand.set(rounder.widened(operand.get(), what));
      }
    }
    return low;
  }

  /// Recomputes what the backward pass reads of a composite's result from the saved input.
  static void readRounded(Decomposable composite, Rounder &rounder,
                          const llvm::DenseSet<Value> &forward) {
    SmallVector<Value> operands(composite->getOperands());
    CastRule rule = cast<Castable>(composite.getOperation()).castRule();
    for (auto [operand, may] : llvm::zip_equal(operands, rule.operands))
      if (may && isF32(operand))
        operand = rounder.widened(operand, "");
    Value rows = composite->getResult(0);
    if (llvm::equal(operands, composite->getOperands()) || rows.use_empty())
      return;
    auto again = [&] {
      OpBuilder builder(composite->getContext());
      builder.setInsertionPointAfter(composite);
      return fromStatistics(composite, operands, builder);
    };
    replaceBehind(rows, again, forward);
  }

  Precision precision = Precision::f32;
};

} // namespace
