//===- RulesComposite.cpp - Normalisation, cross entropy, attention -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/rows/Rows.h"
#include "tools/dev/weir-smith/Rules.h"
#include <cmath>

using namespace mlir;

namespace weir::smith {
namespace {

double epsilon(Scope &s) { return s.random().one({1e-5, 1e-2, 0.25}); }

void normalize(Scope &s) {
  auto op = s.make<NormalizeOp>(s.any(Element::f32, 1, 4), epsilon(s));
  s.give(op.getNormalized());
  if (s.random().chance(0.3))
    s.give(op.getMean());
  if (s.random().chance(0.3))
    s.give(op.getRstd());
}

void normalizeGrad(Scope &s) {
  auto op = s.make<NormalizeOp>(s.any(Element::f32, 1, 4), epsilon(s));
  Value x = op.getInput();
  s.give(
      s.make<NormalizeGradOp>(x.getType(), x, op.getMean(), op.getRstd(), s.like(x), TypeAttr()));
}

void logSoftmax(Scope &s) { s.give(s.make<LogSoftmaxOp>(s.any(Element::f32, 1, 4))); }

SoftmaxCrossEntropyOp crossEntropy(Scope &s) {
  Value logits = s.any(Element::f32, 1, 3);
  auto shape = shapeOf(logits);
  return s.make<SoftmaxCrossEntropyOp>(logits, s.indices(withoutLast(shape), shape.back()));
}

void softmaxCrossEntropy(Scope &s) {
  auto op = crossEntropy(s);
  s.give(op.getLoss());
  if (s.random().chance(0.3))
    s.give(op.getLogSumExp());
}

void softmaxCrossEntropyGrad(Scope &s) {
  auto op = crossEntropy(s);
  s.give(s.make<SoftmaxCrossEntropyGradOp>(op.getLogits().getType(), op.getLogits(), op.getLabels(),
                                           op.getLogSumExp(), s.like(op.getLoss())));
}

AttentionOp anyAttention(Scope &s) {
  Random &random = s.random();
  int64_t batch = 1 + random.below(2), heads = 1 + random.below(3),
          width = random.one({1, 3, 4, 8, 9});
  int64_t queries = s.size(17), keys = random.chance(0.6) ? queries : s.size(17);
  bool causal = keys >= queries && random.chance(0.6);
  Shape query{batch, heads, queries, width}, key{batch, heads, keys, width};
  // Self-attention at times.
  Value q = s.shaped(query), k = queries == keys && random.chance(0.3) ? q : s.shaped(key);
  Value v = random.chance(0.2) ? k : s.shaped(key);
  return s.make<AttentionOp>(q, k, v, 1 / std::sqrt(double(width)), causal);
}

void attention(Scope &s) {
  auto op = anyAttention(s);
  s.give(op.getResult());
  if (s.random().chance(0.2))
    s.give(op.getLogSumExp());
}

void attentionGrad(Scope &s) {
  auto op = anyAttention(s);
  auto gradient = s.make<AttentionGradOp>(
      op.getQuery().getType(), op.getKey().getType(), op.getValue().getType(), op.getQuery(),
      op.getKey(), op.getValue(), op.getResult(), op.getLogSumExp(), s.like(op.getResult()),
      op.getScaleAttr(), op.getCausalAttr(), TypeAttr());
  for (Value result : gradient->getResults())
    s.give(result);
}

} // namespace

ArrayRef<Rule> compositeRules() {
  static constexpr Rule all[] = {
      {"normalize", normalize},
      {"normalize_grad", normalizeGrad},
      {"log_softmax", logSoftmax},
      {"softmax_cross_entropy", softmaxCrossEntropy},
      {"softmax_cross_entropy_grad", softmaxCrossEntropyGrad},
      {"attention", attention},
      {"attention_grad", attentionGrad},
  };
  return all;
}

ArrayRef<Rule> rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> all;
    for (auto family : {elementwiseRules(), structureRules(), computeRules(), compositeRules()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return all;
}

ArrayRef<StringRef> programOps() {
  static constexpr StringRef all[] = {"variable",     "read",           "reload",
                                      "offload",      "all_reduce",     "reduce_scatter",
                                      "all_gather",   "all_to_all",     "collective_permute",
                                      "pack",         "unpack",         "send",
                                      "receive",      "stage_transfer", "save",
                                      "saved",        "write",          "gradient",
                                      "microbatches", "yield",          "kernel",
                                      "loss",         "clip",           "all_finite"};
  return all;
}

} // namespace weir::smith
