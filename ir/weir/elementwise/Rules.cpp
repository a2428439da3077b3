//===- Rules.cpp - How elementwise ops are built, cast, cut and priced ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Rules.h"

using namespace mlir;

namespace weir {

void CompareOp::build(OpBuilder &builder, OperationState &state, Predicate predicate, Value lhs,
                      Value rhs) {
  build(builder, state, RankedTensorType::get(shapeOf(lhs), builder.getI1Type()), predicate, lhs,
        rhs);
}

CastRule elementwiseCastRule(Operation *op) { return floats(op); }
Cost elementwiseCost(Operation *op) { return costOf(op, elements(op->getResult(0))); }

ShardRule elementwiseShardRule(Operation *op) {
  Rule rule;
  Factors all = rule.factors(shapeOf(op->getResult(0)));
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    rule.operand(all);
  return rule.result(all).rule;
}

} // namespace weir
