//===- Attention.cpp - What is known of attend and its gradient ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Rules.h"

using namespace mlir;

namespace weir {

void AttendOp::build(OpBuilder &builder, OperationState &state, Value query, Value key, Value value,
                     double scale, bool causal) {
  build(builder, state, query.getType(), typeLike(query, withoutLast(shapeOf(query))), query, key,
        value, builder.getF64FloatAttr(scale), causal ? builder.getUnitAttr() : UnitAttr(),
        TypeAttr());
}

// C1 of attend, and what both ops say of log_sum_exp.
static LogicalResult verifyAttention(Operation *op, Value query, Value key, Value logSumExp,
                                     bool causal) {
  auto q = shapeOf(query), k = shapeOf(key);
  if (q.size() != 4 || k.size() != 4 || q[0] != k[0] || q[1] != k[1] || q[3] != k[3])
    return op->emitOpError() << "needs queries [b, h, t, d] and keys [b, h, s, d], but has "
                             << printed(q) << " and " << printed(k);
  if (causal && k[2] < q[2])
    return op->emitOpError() << "is causal and has more queries (" << q[2] << ") than keys ("
                             << k[2] << ")";
  // C2
  return expectShape(op, "log_sum_exp", logSumExp, withoutLast(q));
}

LogicalResult AttendOp::verify() {
  return verifyAttention(*this, getQuery(), getKey(), getLogSumExp(), getCausal());
}

LogicalResult AttendGradOp::verify() {
  // C1
  return verifyAttention(*this, getQuery(), getKey(), getLogSumExp(), getCausal());
}

CastRule AttendOp::castRule() { return floatsBut(*this, true, {}, {1}); }
CastRule AttendGradOp::castRule() { return floatsBut(*this, true, {4}, {}); }

// `products` matrix products over the pairs of query and key, and five operations for each pair.
// With causal, query i of t sees i + 1 + s - t of s keys: t * s - t * (t - 1) / 2 pairs.
static Cost attentionCost(Operation *op, Value query, Value key, bool causal, int64_t products) {
  auto q = shapeOf(query);
  int64_t t = q[2], s = shapeOf(key)[2], pairs = t * s - (causal ? t * (t - 1) / 2 : 0);
  return costOf(op, q[0] * q[1] * pairs * (products * 2 * q[3] + 5));
}
Cost AttendOp::cost() { return attentionCost(*this, getQuery(), getKey(), getCausal(), 2); }
Cost AttendGradOp::cost() { return attentionCost(*this, getQuery(), getKey(), getCausal(), 5); }

namespace {
// Batches and heads are independent; queries are too unless `queries` says that they are whole.
struct AttentionFactors {
  Rule rule;
  Factors queries, keys, rows;

  AttentionFactors(Value query, Value key, Kind kind) {
    Factors leading = rule.factors(shapeOf(query).take_front(2));
    unsigned t = rule.factor(shapeOf(query)[2], kind);
    unsigned s = rule.factor(shapeOf(key)[2], Kind::whole),
             d = rule.factor(shapeOf(key)[3], Kind::whole);
    queries = joined(leading, {t, d});
    keys = joined(leading, {s, d});
    rows = joined(leading, t);
  }
};
} // namespace

ShardRule AttendOp::shardRule() {
  // The causal mask depends on the queries' positions.
  AttentionFactors f(getQuery(), getKey(), getCausal() ? Kind::whole : Kind::parallel);
  return f.rule.operand(f.queries)
      .operand(f.keys)
      .operand(f.keys)
      .result(f.queries)
      .result(f.rows)
      .rule;
}

ShardRule AttendGradOp::shardRule() {
  // The queries' contributions meet in the cotangents of keys and values.
  AttentionFactors f(getQuery(), getKey(), Kind::whole);
  f.rule.operand(f.queries)
      .operand(f.keys)
      .operand(f.keys)
      .operand(f.queries)
      .operand(f.rows)
      .operand(f.queries);
  return f.rule.result(f.queries).result(f.keys).result(f.keys).rule;
}

LogicalResult AttendOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[1])
    return emitOpError("has no gradient through its log_sum_exp");
  auto gradient = AttendGradOp::create(builder, getLoc(), getQuery().getType(), getKey().getType(),
                                       getValue().getType(), getQuery(), getKey(), getValue(),
                                       getResult(), getLogSumExp(), cotangents[0], getScaleAttr(),
                                       getCausalAttr(), getAccumulateAttr());
  operandCotangents.assign(gradient->result_begin(), gradient->result_end());
  return success();
}

} // namespace weir
