//===- MixedPrecision.cpp - Products of low-precision floats --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs on the whole step: behind autodiff, which differentiates the program that was written, and
// before clipping, since weir.clip names the gradients. What it changes are numbers: the passes
// before it have another meaning than those behind it, which is the only one of the latter.
//
// A value is rounded where it is defined, so that each is rounded once, whatever uses it; and after
// the additions that cost nothing there, such as a bias, so that it is rounded as late as can be.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/WeirDialect.h"
#include "passes/Passes.h"
#include "passes/precision/Precision.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
#define GEN_PASS_DEF_MIXEDPRECISION
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

bool isF32(Value value) { return tensorType(value).getElementType().isF32(); }

bool multiplies(Operation *op) {
  auto castable = dyn_cast<Castable>(op);
  return castable && castable.castRule().multiplies != Multiplies::nothing;
}

/// What is computed of the gradients: the optimizer, which stays as it is.
llvm::DenseSet<Operation *> opsBehind(ValueRange gradients) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> open(gradients);
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers())
      if (seen.insert(user).second)
        llvm::append_range(open, user->getResults());
  return seen;
}

/// What a result of microbatches is in a round.
Value yieldedFor(OpResult result) {
  auto microbatches = cast<MicrobatchesOp>(result.getOwner());
  return microbatches.getBody().front().getTerminator()->getOperand(result.getResultNumber());
}

/// The products that gradients are, or are sums of: they leave in f32, as they are added up.
llvm::DenseSet<Operation *> productsBefore(ValueRange gradients) {
  llvm::DenseSet<Operation *> products;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open(gradients);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (multiplies(op))
      products.insert(op);
    else if (isa<MicrobatchesOp>(op))
      open.push_back(yieldedFor(cast<OpResult>(value)));
    else if (isa<Pointwise, View>(op))
      llvm::append_range(open, op->getOperands());
  }
  return products;
}

class Rounder {
public:
  Rounder(MLIRContext *context, Type low) : low(low), builder(context) {}

  /// The value in low precision, where it is defined. What moves it is done with what it was
  /// rounded to.
  Value rounded(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto widened = dyn_cast_or_null<CastOp>(op))
      if (tensorType(widened.getInput()).getElementType() == low)
        return widened.getInput();
    Value &known = lows[value];
    if (known)
      return known;
    builder.setInsertionPointAfterValue(value);
    auto type = tensorType(value).clone(low);
    Value made;
    if (isa_and_nonnull<View>(op)) {
      Value source = rounded(op->getOperand(0));
      builder.setInsertionPointAfterValue(value);
      Operation *moved = builder.clone(*op);
      moved->setOperand(0, source);
      moved->getResult(0).setType(type);
      made = moved->getResult(0);
    } else {
      made = CastOp::create(builder, value.getLoc(), type, value);
    }
    return lows[value] = made;
  }

  /// The same as an f32 again, for what computes with it.
  Value widened(Value value) {
    Value source = rounded(value);
    Value &known = wides[source];
    if (!known) {
      builder.setInsertionPointAfterValue(source);
      known = CastOp::create(builder, value.getLoc(), tensorType(value), source);
    }
    return known;
  }

  /// Makes all that use the value use what it is rounded to.
  void round(Value value) {
    Value source = rounded(value), again = widened(value);
    value.replaceAllUsesExcept(again, source.getDefiningOp());
  }

  /// What else nothing but sums use is summed up as it was rounded: it need not be in memory as it
  /// was.
  void roundForSums() {
    for (auto [value, narrow] : llvm::to_vector(lows)) {
      auto isSum = [](Operation *user) { return isa<ReduceOp>(user); };
      auto isElse = [&](Operation *user) {
        bool isMoved = isa<View>(user) && user->use_empty(); // and has been replaced
        return !isSum(user) && !isMoved && user != narrow.getDefiningOp();
      };
      if (isa_and_nonnull<ReadOp>(value.getDefiningOp()) ||
          llvm::any_of(value.getUsers(), isElse) || llvm::none_of(value.getUsers(), isSum))
        continue;
      Value again = widened(value);
      value.replaceUsesWithIf(again, [&](OpOperand &use) { return isSum(use.getOwner()); });
    }
  }

private:
  Type low;
  OpBuilder builder;
  llvm::MapVector<Value, Value> lows; ///< in the order in which they are made
  llvm::DenseMap<Value, Value> wides;
};

/// Behind what is done to each element of it with no other tensor as large: a bias, an activation.
Value endOfChain(Value value) {
  Value end = value;
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    auto view = dyn_cast<View>(user);
    bool moves = view && view.use() == ViewUse::each;
    if ((!moves && !isa<Pointwise>(user)) || isa<CastOp>(user) || !isF32(user->getResult(0)))
      return end;
    for (Value other : user->getOperands()) {
      Operation *op = other.getDefiningOp();
      if (other != value && !isa_and_nonnull<BroadcastOp, ConstantOp>(op))
        return end;
    }
    value = user->getResult(0);
    end = moves ? end : value;
  }
  return end;
}

struct MixedPrecision : weir::impl::MixedPrecisionBase<MixedPrecision> {
  using MixedPrecisionBase::MixedPrecisionBase;

  void runOnOperation() override {
    std::optional<Element> element = precisionNamed(type);
    if (!element) {
      getOperation().emitError() << "precision " << type << ": expected " << precisionOptions();
      return signalPassFailure();
    }
    if (!isLow(*element))
      return markAllAnalysesPreserved();
    Type low = typeOf(&getContext(), *element);

    SmallVector<Value> gradients;
    getOperation().walk([&](ClipOp clip) { llvm::append_range(gradients, clip.getGradients()); });
    llvm::DenseSet<Operation *> optimizer = opsBehind(gradients);
    llvm::DenseSet<Operation *> exact = productsBefore(gradients);

    SmallVector<Operation *> products, composites;
    getOperation().walk([&](Operation *op) {
      if (optimizer.contains(op))
        return;
      if (multiplies(op))
        products.push_back(op);
      else if (isa<Decomposable>(op))
        composites.push_back(op);
    });

    llvm::DenseSet<Value> kept = readTwice(composites);

    Rounder rounder(&getContext(), low);
    for (Operation *op : products)
      if (!exact.contains(op))
        for (Value result : resultsOf(op))
          rounder.round(endOfChain(result));
    for (Operation *op : products)
      roundOperands(op, rounder);
    for (Operation *op : composites)
      for (OpOperand &operand : op->getOpOperands())
        if (mayBeLow(operand) && kept.contains(operand.get()))
          operand.set(rounder.widened(operand.get()));
    rounder.roundForSums();
  }

  /// The operands of composites that others of them read again: a normalisation's gradient reads
  /// what was normalised, which is kept for it.
  static llvm::DenseSet<Value> readTwice(ArrayRef<Operation *> composites) {
    llvm::DenseSet<Value> once, twice;
    for (Operation *op : composites)
      for (Value operand : llvm::SmallSetVector<Value, 4>(op->operand_begin(), op->operand_end()))
        if (!once.insert(operand).second)
          twice.insert(operand);
    return twice;
  }

  static bool mayBeLow(OpOperand &operand) {
    auto castable = dyn_cast<Castable>(operand.getOwner());
    return castable && castable.castRule().operands[operand.getOperandNumber()] &&
           isF32(operand.get());
  }

  /// Those that may be low, and are wide.
  static SmallVector<Value> resultsOf(Operation *op) {
    SmallVector<Value> results;
    CastRule rule = cast<Castable>(op).castRule();
    for (auto [result, may] : llvm::zip_equal(op->getResults(), rule.results))
      if (may && isF32(result))
        results.push_back(result);
    return results;
  }

  static void roundOperands(Operation *op, Rounder &rounder) {
    bool low = cast<Castable>(op).castRule().multiplies == Multiplies::low;
    for (OpOperand &operand : op->getOpOperands())
      if (mayBeLow(operand))
        operand.set(low ? rounder.rounded(operand.get()) : rounder.widened(operand.get()));
  }
};

} // namespace
