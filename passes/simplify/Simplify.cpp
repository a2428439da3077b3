//===- Simplify.cpp - Folding, canonicalization, CSE and dead code --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after every pass that generates much IR by rule: the frontend and autodiff. These may emit
// plain formulas, and leave x * 1, unused cotangents and repeated subexpressions to this pass.
// Rewrites here keep every bit. A rewrite that needs only one op's contract is in that op's folder
// or canonicalization; a rewrite of two ops is below.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/simplify/SavedPhases.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
#define GEN_PASS_DEF_SIMPLIFY
#include "passes/Passes.h.inc"

namespace {

/// Whether the value is this number everywhere.
bool isSplat(mlir::Value value, double number) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto attribute = constant ? llvm::dyn_cast<mlir::FloatAttr>(constant.getValue()) : nullptr;
  return attribute && attribute.getValueAsDouble() == number;
}

/// x * -1 -> -x, exact in every bit but NaN's sign.
mlir::LogicalResult mulMinusOne(MulOp op, mlir::PatternRewriter &rewriter) {
  for (auto [factor, other] : {std::pair(op.getRhs(), op.getLhs()), {op.getLhs(), op.getRhs()}})
    if (isSplat(factor, -1)) {
      rewriter.replaceOpWithNewOp<NegOp>(op, op.getType(), other, op.getComputeAttr());
      return mlir::success();
    }
  return mlir::failure();
}

/// a + (-b) -> a - b and (-b) + a -> a - b.
mlir::LogicalResult addNeg(AddOp op, mlir::PatternRewriter &rewriter) {
  for (auto [negated, other] : {std::pair(op.getRhs(), op.getLhs()), {op.getLhs(), op.getRhs()}})
    if (auto neg = negated.getDefiningOp<NegOp>()) {
      rewriter.replaceOpWithNewOp<SubOp>(op, op.getType(), other, neg.getInput(),
                                         op.getComputeAttr());
      return mlir::success();
    }
  return mlir::failure();
}

/// a - (-b) -> a + b.
mlir::LogicalResult subNeg(SubOp op, mlir::PatternRewriter &rewriter) {
  auto neg = op.getRhs().getDefiningOp<NegOp>();
  if (!neg)
    return mlir::failure();
  rewriter.replaceOpWithNewOp<AddOp>(op, op.getType(), op.getLhs(), neg.getInput(),
                                     op.getComputeAttr());
  return mlir::success();
}

/// The users of replaced values.
class Changed : public mlir::RewriterBase::ForwardingListener {
public:
  using ForwardingListener::ForwardingListener;

  void notifyOperationModified(mlir::Operation *op) override { modified.insert(op); }
  void notifyOperationErased(mlir::Operation *op) override {
    ForwardingListener::notifyOperationErased(op);
    erased.insert(op);
  }

  std::vector<mlir::Operation *> ops() const {
    std::vector<mlir::Operation *> left;
    llvm::copy_if(modified, std::back_inserter(left),
                  [&](mlir::Operation *op) { return !erased.contains(op); });
    return left;
  }

private:
  llvm::SetVector<mlir::Operation *> modified;
  llvm::DenseSet<mlir::Operation *> erased;
};

struct Simplify : impl::SimplifyBase<Simplify> {
  /// Created once for all entries.
  mlir::LogicalResult initialize(mlir::MLIRContext *context) override {
    mlir::RewritePatternSet patterns(context);
    for (mlir::Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(patterns);
    for (mlir::RegisteredOperationName name : context->getRegisteredOperations())
      name.getCanonicalizationPatterns(patterns, context);
    patterns.add(mulMinusOne).add(addNeg).add(subNeg);
    frozen = std::move(patterns);
    return mlir::success();
  }

  /// CSE makes operands equal, which enables more folding, so both repeat until nothing changes.
  /// Only ops with changed operands are visited again.
  void runOnOperation() override {
    mlir::GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
    config.setMaxIterations(1);
    SavedPhases phases(getOperation());
    config.setListener(&phases);
    bool rewritten = false, merged = false;
    // If the driver does not converge, the IR is still valid.
    (void)mlir::applyPatternsGreedily(getOperation(), frozen, config, &rewritten);
    mlir::DominanceInfo dominance(getOperation());
    for (bool again = true; again;) {
      Changed changed(&phases);
      mlir::IRRewriter rewriter(&getContext(), &changed);
      bool equal = false;
      mlir::eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &equal);
      merged |= equal;
      again = false;
      if (equal)
        (void)mlir::applyOpPatternsGreedily(changed.ops(), frozen, config, &again);
    }
    phases.restore();
    if (!rewritten && !merged)
      markAllAnalysesPreserved();
  }

private:
  mlir::FrozenRewritePatternSet frozen;
};

} // namespace
} // namespace weir
