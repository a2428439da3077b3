//===- Attention.cpp - Attention and its gradient -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/attention/Attention.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/kernel/RowBuilder.h"

using namespace mlir;

namespace weir {

// Batches and heads are independent; queries are too but for a causal mask, which depends on their
// positions.
static StringRef factorsOf(bool causal) {
  return causal ? "query: b h t! d!, key: b h s! d, value: b h s d -> "
                  "result: b h t d, log_sum_exp: b h t"
                : "query: b h t d!, key: b h s! d, value: b h s d -> "
                  "result: b h t d, log_sum_exp: b h t";
}

ShardRule AttentionOp::shardRule() { return ruleOf(*this, factorsOf(getCausal())); }

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                            SmallVectorImpl<Type> &types) {
  return inferByFactors(factorsOf(op.getCausal()), op.getOperands(), types);
}

// C1 and C2 of attention, which both ops share.
static LogicalResult verifyAttention(Operation *op, StringRef factors, Value query, Value key,
                                     bool causal) {
  auto q = shapeOf(query), k = shapeOf(key);
  if (q.size() != 4 || k.size() != 4 || q[0] != k[0] || q[1] != k[1] || q[3] != k[3])
    return op->emitOpError() << "needs queries [b, h, t, d] and keys [b, h, s, d], but has "
                             << printed(q) << " and " << printed(k);
  if (causal && k[2] < q[2])
    return op->emitOpError() << "is causal and has more queries (" << q[2] << ") than keys ("
                             << k[2] << ")";
  // C2
  return expectFactors(op, factors);
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(*this, factorsOf(getCausal()), getQuery(), getKey(), getCausal());
}

LogicalResult AttentionGradOp::verify() {
  // C1
  return verifyAttention(*this, factors(), getQuery(), getKey(), getCausal());
}

// With causal, query i of t sees i + 1 + s - t of s keys: t * s - t * (t - 1) / 2 pairs.
double attentionPairs(Value query, Value key, bool causal) {
  auto q = shapeOf(query);
  double t = double(q[2]), s = double(shapeOf(key)[2]);
  return double(q[0]) * double(q[1]) * (t * s - (causal ? t * (t - 1) / 2 : 0));
}

// `products` matrix products over the pairs, and five operations for each pair.
static Cost attentionCost(Operation *op, Value query, Value key, bool causal, int64_t products) {
  return costOf(op,
                attentionPairs(query, key, causal) * double(products * 2 * shapeOf(query)[3] + 5));
}
Cost AttentionOp::cost() { return attentionCost(*this, getQuery(), getKey(), getCausal(), 2); }
Cost AttentionGradOp::cost() { return attentionCost(*this, getQuery(), getKey(), getCausal(), 5); }

LogicalResult AttentionOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[1])
    return emitOpError("has no gradient through its log_sum_exp");
  auto gradient = AttentionGradOp::create(builder, getLoc(), getQuery(), getKey(), getValue(),
                                          getResult(), getLogSumExp(), cotangents[0],
                                          getScaleAttr(), getCausalAttr(), getAccumulateAttr());
  operandCotangents.assign(gradient->result_begin(), gradient->result_end());
  return success();
}

SmallVector<Value> AttentionOp::decompose(OpBuilder &builder) {
  RowBuilder b(builder, *this);
  Value scores = b.scores(getQuery(), getKey(), getScale().convertToDouble(), getCausal());
  Value largest = b.reduce(scores, Reduction::max);
  Value weights = b.exp(b.sub(scores, b.spread(largest, scores))), sum = b.sum(weights);
  Value result = b.matmul(b.div(weights, b.spread(sum, weights)), getValue(), false, false);
  return {result, b.add(largest, b.log(sum))};
}

SmallVector<Value> AttentionGradOp::decompose(OpBuilder &builder) {
  RowBuilder b(builder, *this);
  double scale = getScale().convertToDouble();
  Value g = getCotangent();
  Value scores = b.scores(getQuery(), getKey(), scale, getCausal());
  Value weights = b.exp(b.sub(scores, b.spread(getLogSumExp(), scores)));
  Value valueGrad = b.matmul(weights, g, true, false);
  // Softmax's cotangent is p * (dp - sum(p * dp)), and sum(p * dp) over the keys is sum(output *
  // g) over the features.
  Value weightGrad = b.matmul(g, getValue(), false, true);
  Value common = b.sum(b.mul(getOutput(), g));
  Value scoreGrad =
      b.scaled(b.mul(weights, b.sub(weightGrad, b.spread(common, weightGrad))), scale);
  Value queryGrad = b.matmul(scoreGrad, getKey(), false, false);
  Value keyGrad = b.matmul(scoreGrad, getQuery(), true, false);
  return {queryGrad, keyGrad, valueGrad};
}

} // namespace weir
