//===- Costs.cpp - Floating-point operations and bytes of every op ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An elementwise operation counts one for each element, whatever it is; a product of matrices two
// for each multiplication. Layout ops move bytes only. Bytes are those of operands and results,
// each once.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"

using namespace mlir;

namespace weir {

static int64_t elements(Value value) { return tensorType(value).getNumElements(); }
static Cost costOf(Operation *op, int64_t flops) { return {flops, trafficBytes(op)}; }

Cost elementwiseCost(Operation *op) { return costOf(op, elements(op->getResult(0))); }

// The bytes that are touched of ops that read a part of an operand.
static Cost copyCost(Value result) { return {0, 2 * storageBytes(result.getType())}; }

Cost ConstantOp::cost() { return {0, storageBytes(getType())}; }
Cost IotaOp::cost() { return {0, storageBytes(getType())}; }
Cost BroadcastOp::cost() { return costOf(*this, 0); }
Cost TransposeOp::cost() { return costOf(*this, 0); }
Cost SplitDimOp::cost() { return costOf(*this, 0); }
Cost MergeDimsOp::cost() { return costOf(*this, 0); }
Cost SliceOp::cost() { return copyCost(getResult()); }
Cost PadOp::cost() { return costOf(*this, 0); }
Cost ConcatOp::cost() { return costOf(*this, 0); }
Cost GatherOp::cost() {
  Cost cost = copyCost(getResult());
  cost.bytes += storageBytes(getIndices().getType());
  return cost;
}
Cost SegmentSumOp::cost() { return costOf(*this, elements(getInput())); }

Cost ReduceOp::cost() { return costOf(*this, elements(getInput())); }
Cost ArgMaxOp::cost() { return costOf(*this, elements(getInput())); }

Cost MatmulOp::cost() {
  auto lhs = shapeOf(getLhs());
  return costOf(*this, 2 * elements(getResult()) * lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)]);
}

// The three convolutions multiply each result of the forward one with each weight of one output
// channel.
static Cost convolutionCost(Operation *op, Value result, Value weight) {
  return costOf(op, 2 * elements(result) * llvm::product_of(shapeOf(weight).drop_front()));
}
Cost ConvolutionOp::cost() { return convolutionCost(*this, getResult(), getWeight()); }
Cost ConvolutionInputGradOp::cost() { return convolutionCost(*this, getCotangent(), getWeight()); }
Cost ConvolutionWeightGradOp::cost() { return convolutionCost(*this, getCotangent(), getResult()); }

Cost MaxPoolOp::cost() {
  return costOf(*this, elements(getResult()) * llvm::product_of(getWindow()));
}
Cost MaxPoolGradOp::cost() {
  return costOf(*this, elements(getCotangent()) * (llvm::product_of(getWindow()) + 1));
}

// Per element: two sums, and the operations of the formulas.
Cost NormalizeOp::cost() { return costOf(*this, 6 * elements(getInput())); }
Cost NormalizeGradOp::cost() { return costOf(*this, 9 * elements(getInput())); }
Cost SoftmaxCrossEntropyOp::cost() { return costOf(*this, 4 * elements(getLogits())); }
Cost SoftmaxCrossEntropyGradOp::cost() { return costOf(*this, 4 * elements(getLogits())); }

// `products` matrix products over the pairs of query and key, and five operations for each pair.
// With causal, query i of t sees i + 1 + s - t of s keys: t * s - t * (t - 1) / 2 pairs.
static Cost attentionCost(Operation *op, Value query, Value key, bool causal, int64_t products) {
  auto q = shapeOf(query);
  int64_t t = q[2], s = shapeOf(key)[2], pairs = t * s - (causal ? t * (t - 1) / 2 : 0);
  return costOf(op, q[0] * q[1] * pairs * (products * 2 * q[3] + 5));
}
Cost AttendOp::cost() { return attentionCost(*this, getQuery(), getKey(), getCausal(), 2); }
Cost AttendGradOp::cost() { return attentionCost(*this, getQuery(), getKey(), getCausal(), 5); }

// Ten rounds of two products and four other operations; a normal number adds a logarithm, a root, a
// cosine and a few more.
Cost RandomOp::cost() {
  return costOf(*this,
                elements(getResult()) * (getDistribution() == Distribution::uniform ? 62 : 72));
}

} // namespace weir
