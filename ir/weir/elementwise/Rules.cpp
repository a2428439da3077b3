//===- Rules.cpp - Types and factors of elementwise ops -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"

using namespace mlir;

namespace weir {

static RankedTensorType truthsLike(Value value) {
  return tensorType(value).clone(IntegerType::get(value.getContext(), 1));
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(truthsLike(op.getLhs()));
  return success();
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(truthsLike(op.getInput()));
  return success();
}

static bool isFloat(Value value) { return isa<FloatType>(tensorType(value).getElementType()); }

/// Integers are rounded towards zero.
Linearity DivOp::linearity() { return isFloat(getResult()) ? Linearity::first : Linearity::none; }

LogicalResult CastOp::verify() {
  Type from = tensorType(getInput()).getElementType(),
       to = tensorType(getResult()).getElementType();
  auto serves = [](Type low, Type other) { return !isLow(low) || low == other || other.isF32(); };
  if (!serves(from, to) || !serves(to, from))
    return emitOpError("C2: ") << from << " is not cast to " << to << " but by way of f32";
  return success();
}

bool CastOp::widens() {
  return getInput().getType() != getType() && isLow(tensorType(getInput()).getElementType());
}
bool CastOp::narrows() {
  return getInput().getType() != getType() && isLow(tensorType(getResult()).getElementType());
}

/// Whoever needs the numbers widened reads the narrow ones.
FusionClass CastOp::fusionClass() { return widens() ? FusionClass::cheap : FusionClass::fused; }

/// One to a float of low precision rounds, which parts of a sum are for themselves where it says
/// so.
Linearity CastOp::linearity() {
  return isFloat(getResult()) && (!isLow(tensorType(getResult()).getElementType()) ||
                                  (*this)->hasAttr(partsAttrName))
             ? Linearity::together
             : Linearity::none;
}

ShardRule elementwiseShardRule(Operation *op) {
  Rule rule;
  Factors all = rule.factors(shapeOf(op->getResult(0)));
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    rule.operand(all);
  return rule.result(all).rule;
}

} // namespace weir
