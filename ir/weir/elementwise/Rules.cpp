//===- Rules.cpp - Types and factors of elementwise ops -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Rules.h"

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

ShardRule elementwiseShardRule(Operation *op) {
  Rule rule;
  Factors all = rule.factors(shapeOf(op->getResult(0)));
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    rule.operand(all);
  return rule.result(all).rule;
}

} // namespace weir
