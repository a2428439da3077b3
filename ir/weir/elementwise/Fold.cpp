//===- Fold.cpp - Folding elementwise ops --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants are folded by running the op's own scalar form on them, so folding cannot disagree with
// what kernels compute. Identities follow; those on floats hold for NaN and infinities too (x * 0
// is no identity).
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace weir {

// The same bits as a constant of `type`: an integer of another signedness, or what stands for a
// float of low precision.
static Attribute retyped(Attribute value, Type type) {
  if (auto real = dyn_cast<FloatAttr>(value); real && isa<IntegerType>(type))
    return IntegerAttr::get(type, real.getValue().bitcastToAPInt());
  if (auto bits = dyn_cast<IntegerAttr>(value); bits && isa<FloatType>(type))
    return FloatAttr::get(type,
                          APFloat(cast<FloatType>(type).getFloatSemantics(), bits.getValue()));
  if (auto integer = dyn_cast<IntegerAttr>(value); integer && integer.getType() != type)
    return IntegerAttr::get(type, integer.getValue());
  return value;
}

// The scalar that the op makes of constant scalars, or null if some scalar op does not fold.
static Attribute evaluated(Pointwise op, ArrayRef<Attribute> operands) {
  Block scratch;
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToStart(&scratch);
  SmallVector<Value> scalars;
  for (Attribute operand : operands) {
    auto value = cast<TypedAttr>(retyped(operand, scalarType(cast<TypedAttr>(operand).getType())));
    scalars.push_back(arith::ConstantOp::create(builder, op.getLoc(), value));
  }
  Value result = op.combine(builder, scalars);
  llvm::DenseMap<Value, Attribute> known;
  for (Operation &step : scratch) {
    SmallVector<Attribute> constants;
    for (Value operand : step.getOperands())
      constants.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> folded;
    if (failed(step.fold(constants, folded)) || folded.size() != 1)
      return nullptr;
    auto value = dyn_cast<Value>(folded[0]);
    known[step.getResult(0)] = value ? known.lookup(value) : cast<Attribute>(folded[0]);
  }
  Attribute value = known.lookup(result);
  return value ? retyped(value, tensorType(op->getResult(0)).getElementType()) : nullptr;
}

OpFoldResult foldPointwise(Pointwise op, ArrayRef<Attribute> operands) {
  if (auto simplifiable = dyn_cast<Simplifiable>(op.getOperation()))
    if (OpFoldResult identity = simplifiable.identity(operands))
      return identity;
  if (llvm::all_of(operands, [](Attribute value) { return value != nullptr; }))
    return evaluated(op, operands);
  return {};
}

// Whether a constant scalar is known and is this number.
static bool is(Attribute scalar, double number) {
  if (auto value = dyn_cast_or_null<FloatAttr>(scalar))
    return value.getValueAsDouble() == number;
  if (auto value = dyn_cast_or_null<IntegerAttr>(scalar))
    return value.getType().isInteger(1) ? value.getValue().getBoolValue() == (number != 0)
                                        : value.getValue().getSExtValue() == int64_t(number);
  return false;
}

// x for f(f(x)).
template <typename Op> static OpFoldResult involution(Op op) {
  if (auto inner = op.getInput().template getDefiningOp<Op>())
    return inner.getInput();
  return {};
}
OpFoldResult NegOp::identity(ArrayRef<Attribute>) { return involution(*this); }
OpFoldResult NotOp::identity(ArrayRef<Attribute>) { return involution(*this); }

OpFoldResult StopGradientOp::identity(ArrayRef<Attribute>) {
  if (auto inner = getInput().getDefiningOp<StopGradientOp>())
    return inner.getResult();
  return {};
}

// The other operand where one is the neutral number.
template <typename Op>
static OpFoldResult withoutNeutral(Op op, ArrayRef<Attribute> operands, double neutral) {
  if (is(operands[1], neutral))
    return op.getLhs();
  if (is(operands[0], neutral))
    return op.getRhs();
  return {};
}
OpFoldResult AddOp::identity(ArrayRef<Attribute> operands) {
  return withoutNeutral(*this, operands, 0);
}
OpFoldResult MulOp::identity(ArrayRef<Attribute> operands) {
  if (tensorType(getResult()).getElementType().isInteger())
    for (Attribute operand : operands)
      if (is(operand, 0))
        return operand;
  return withoutNeutral(*this, operands, 1);
}

OpFoldResult SubOp::identity(ArrayRef<Attribute> operands) {
  return is(operands[1], 0) ? OpFoldResult(getLhs()) : OpFoldResult();
}
OpFoldResult DivOp::identity(ArrayRef<Attribute> operands) {
  return is(operands[1], 1) ? OpFoldResult(getLhs()) : OpFoldResult();
}
OpFoldResult PowOp::identity(ArrayRef<Attribute> operands) {
  return is(operands[1], 1) ? OpFoldResult(getLhs()) : OpFoldResult();
}

template <typename Op> static OpFoldResult ofEquals(Op op) {
  return op.getLhs() == op.getRhs() ? OpFoldResult(op.getLhs()) : OpFoldResult();
}
OpFoldResult MaxOp::identity(ArrayRef<Attribute>) { return ofEquals(*this); }
OpFoldResult MinOp::identity(ArrayRef<Attribute>) { return ofEquals(*this); }

// `absorbing` decides alone, its negation not at all.
template <typename Op>
static OpFoldResult foldLogic(Op op, ArrayRef<Attribute> operands, double absorbing) {
  for (Attribute operand : operands)
    if (is(operand, absorbing))
      return operand;
  if (OpFoldResult other = withoutNeutral(op, operands, 1 - absorbing))
    return other;
  return ofEquals(op);
}
OpFoldResult AndOp::identity(ArrayRef<Attribute> operands) { return foldLogic(*this, operands, 0); }
OpFoldResult OrOp::identity(ArrayRef<Attribute> operands) { return foldLogic(*this, operands, 1); }

OpFoldResult SelectOp::identity(ArrayRef<Attribute> operands) {
  if (operands[0])
    return is(operands[0], 1) ? getOnTrue() : getOnFalse();
  return getOnTrue() == getOnFalse() ? OpFoldResult(getOnTrue()) : OpFoldResult();
}

// What was widened is narrowed to itself. What was narrowed was rounded, and is not what it was.
OpFoldResult CastOp::identity(ArrayRef<Attribute>) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<CastOp>())
    if (inner.getInput().getType() == getType() && isLow(getType().getElementType()))
      return inner.getInput();
  return {};
}

namespace {
/// x ^ 2 is x * x.
struct SquareByMultiplying : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    Attribute exponent;
    if (!matchPattern(op.getRhs(), m_Constant(&exponent)) || !is(exponent, 2))
      return failure();
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(), op.getLhs(),
                                       op.getComputeAttr());
    return success();
  }
};

/// 1 - e^x is 0 - (e^x - 1), which keeps the digits of a small x: 1 - beta ^ t is one of these. At
/// 0 it is 0, as before: -(e^x - 1) would be -0.
struct DifferenceToOne : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SubOp op, PatternRewriter &rewriter) const override {
    Attribute one;
    auto exp = op.getRhs().getDefiningOp<ExpOp>();
    if (!exp || !exp->hasOneUse() || exp.getComputeAttr() != op.getComputeAttr() ||
        !matchPattern(op.getLhs(), m_Constant(&one)) || !is(one, 1))
      return failure();
    Value less =
        Expm1Op::create(rewriter, op.getLoc(), op.getType(), exp.getInput(), op.getComputeAttr());
    auto type = cast<RankedTensorType>(op.getLhs().getType());
    Value zero = ConstantOp::create(rewriter, op.getLoc(), type,
                                    rewriter.getFloatAttr(type.getElementType(), 0));
    rewriter.replaceOpWithNewOp<SubOp>(op, op.getType(), zero, less, op.getComputeAttr());
    return success();
  }
};
} // namespace

void SubOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DifferenceToOne>(context);
}

void PowOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SquareByMultiplying>(context);
}

} // namespace weir
