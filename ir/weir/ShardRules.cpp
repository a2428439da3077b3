//===- ShardRules.cpp - How ops may be cut into shards ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"

using namespace mlir;

namespace weir {

namespace {
using Kind = Factor::Kind;
using Dimensions = SmallVector<ShardRule::Dimension>;

/// Collects factors, and the dimensions of operands and results in order.
struct Rule {
  ShardRule rule;

  unsigned factor(int64_t size, Kind kind = Kind::parallel) {
    rule.factors.push_back({size, kind});
    return rule.factors.size() - 1;
  }
  /// One factor for each size.
  SmallVector<unsigned> factors(ArrayRef<int64_t> sizes, Kind kind = Kind::parallel) {
    SmallVector<unsigned> made;
    for (int64_t size : sizes)
      made.push_back(factor(size, kind));
    return made;
  }
  static Dimensions dimensions(ArrayRef<unsigned> factors) {
    Dimensions made;
    for (unsigned factor : factors)
      made.push_back({factor});
    return made;
  }
  Rule &operand(Dimensions dimensions) {
    rule.operands.push_back(std::move(dimensions));
    return *this;
  }
  Rule &operand(ArrayRef<unsigned> factors) { return operand(dimensions(factors)); }
  Rule &result(Dimensions dimensions) {
    rule.results.push_back(std::move(dimensions));
    return *this;
  }
  Rule &result(ArrayRef<unsigned> factors) { return result(dimensions(factors)); }
};

using Factors = SmallVector<unsigned>;

Factors joined(ArrayRef<unsigned> first, ArrayRef<unsigned> second) {
  Factors all(first);
  all.append(second.begin(), second.end());
  return all;
}
} // namespace

ShardRule elementwiseShardRule(Operation *op) {
  Rule rule;
  Factors all = rule.factors(shapeOf(op->getResult(0)));
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    rule.operand(all);
  return rule.result(all).rule;
}

ShardRule ConstantOp::shardRule() { return elementwiseShardRule(*this); }
ShardRule IotaOp::shardRule() { return elementwiseShardRule(*this); }

ShardRule BroadcastOp::shardRule() {
  Rule rule;
  Factors all = rule.factors(shapeOf(getResult()));
  Dimensions input;
  for (auto [size, dimension] : llvm::zip_equal(shapeOf(getInput()), getDimensions()))
    input.push_back(size == shapeOf(getResult())[dimension] ? ShardRule::Dimension{all[dimension]}
                                                            : ShardRule::Dimension{});
  return rule.operand(input).result(all).rule;
}

ShardRule TransposeOp::shardRule() {
  Rule rule;
  Factors input = rule.factors(shapeOf(getInput())), result;
  for (int64_t dimension : getPermutation())
    result.push_back(input[dimension]);
  return rule.operand(input).result(result).rule;
}

// `parts` are several dimensions from `first` on; in the other shape one dimension stands for them.
static std::pair<Dimensions, Dimensions> splitDimensions(Rule &rule, ArrayRef<int64_t> parts,
                                                         int64_t first, int64_t count) {
  Dimensions apart = Rule::dimensions(rule.factors(parts)), together(apart);
  ShardRule::Dimension merged;
  for (int64_t i = first; i < first + count; ++i)
    merged.push_back(apart[i][0]);
  together.erase(together.begin() + first, together.begin() + first + count);
  together.insert(together.begin() + first, merged);
  return {apart, together};
}

ShardRule SplitDimOp::shardRule() {
  Rule rule;
  auto [apart, together] =
      splitDimensions(rule, shapeOf(getResult()), getDimension(), getSizes().size());
  return rule.operand(together).result(apart).rule;
}

ShardRule MergeDimsOp::shardRule() {
  Rule rule;
  auto [apart, together] = splitDimensions(rule, shapeOf(getInput()), getFirst(), getCount());
  return rule.operand(apart).result(together).rule;
}

// One operand and result whose dimensions of equal size move together; the others are whole.
static ShardRule equalDimensions(Value operand, Value result) {
  Rule rule;
  Factors input, output;
  for (auto [from, to] : llvm::zip_equal(shapeOf(operand), shapeOf(result))) {
    bool equal = from == to;
    input.push_back(rule.factor(from, equal ? Kind::parallel : Kind::whole));
    output.push_back(equal ? input.back() : rule.factor(to, Kind::whole));
  }
  return rule.operand(input).result(output).rule;
}
ShardRule SliceOp::shardRule() { return equalDimensions(getInput(), getResult()); }
ShardRule PadOp::shardRule() { return equalDimensions(getInput(), getResult()); }

ShardRule ConcatOp::shardRule() {
  Rule rule;
  Factors all = rule.factors(shapeOf(getResult()));
  rule.rule.factors[all[getDimension()]].kind = Kind::whole;
  for (Value input : getInputs()) {
    Factors own(all);
    own[getDimension()] = rule.factor(shapeOf(input)[getDimension()], Kind::whole);
    rule.operand(own);
  }
  return rule.result(all).rule;
}

ShardRule GatherOp::shardRule() {
  Rule rule;
  unsigned rows = rule.factor(shapeOf(getTable())[0], Kind::whole);
  Factors row = rule.factors(shapeOf(getTable()).drop_front()),
          indices = rule.factors(shapeOf(getIndices()));
  return rule.operand(joined(rows, row)).operand(indices).result(joined(indices, row)).rule;
}

ShardRule SegmentSumOp::shardRule() {
  Rule rule;
  Factors indices = rule.factors(shapeOf(getIndices()), Kind::sum);
  unsigned segments = rule.factor(shapeOf(getResult())[0], Kind::whole);
  Factors row = rule.factors(shapeOf(getResult()).drop_front());
  return rule.operand(joined(indices, row)).operand(indices).result(joined(segments, row)).rule;
}

ShardRule ReduceOp::shardRule() {
  Kind kind = getKind() == Reduction::sum   ? Kind::sum
              : getKind() == Reduction::max ? Kind::max
                                            : Kind::min;
  Rule rule;
  Factors input = rule.factors(shapeOf(getInput())), result;
  for (unsigned i = 0; i < input.size(); ++i) {
    if (llvm::is_contained(getAxes(), i))
      rule.rule.factors[input[i]].kind = kind;
    else
      result.push_back(input[i]);
  }
  return rule.operand(input).result(result).rule;
}

ShardRule ArgMaxOp::shardRule() {
  Rule rule;
  Factors input = rule.factors(shapeOf(getInput())), result(input);
  rule.rule.factors[input[getAxis()]].kind = Kind::whole;
  result.erase(result.begin() + getAxis());
  return rule.operand(input).result(result).rule;
}

ShardRule MatmulOp::shardRule() {
  Rule rule;
  auto result = shapeOf(getResult()), lhs = shapeOf(getLhs());
  Factors batch = rule.factors(result.drop_back(2));
  unsigned m = rule.factor(result[result.size() - 2]), n = rule.factor(result.back());
  unsigned k = rule.factor(lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)], Kind::sum);
  return rule.operand(joined(batch, getTransposeLhs() ? Factors{k, m} : Factors{m, k}))
      .operand(joined(batch, getTransposeRhs() ? Factors{n, k} : Factors{k, n}))
      .result(joined(batch, {m, n}))
      .rule;
}

// The images, weights and results of a convolution: [n, c, ..], [o, c, ..] and [n, o, ..]; `summed`
// is the letter that the op's result lacks. Places are whole: neighbours overlap.
static ShardRule
convolutionRule(Value image, Value weight, Value result, char summed,
                llvm::function_ref<void(Rule &, Factors, Factors, Factors)> arrange) {
  Rule rule;
  auto kind = [&](char letter) { return letter == summed ? Kind::sum : Kind::parallel; };
  unsigned n = rule.factor(shapeOf(image)[0], kind('n')),
           c = rule.factor(shapeOf(image)[1], kind('c'));
  unsigned o = rule.factor(shapeOf(weight)[0], kind('o'));
  auto places = [&](Value value) {
    return rule.factors(shapeOf(value).drop_front(2), Kind::whole);
  };
  Factors images = joined({n, c}, places(image)), weights = joined({o, c}, places(weight));
  Factors results = joined({n, o}, places(result));
  arrange(rule, images, weights, results);
  return rule.rule;
}

ShardRule ConvolutionOp::shardRule() {
  return convolutionRule(
      getInput(), getWeight(), getResult(), 'c',
      [](Rule &rule, Factors x, Factors w, Factors y) { rule.operand(x).operand(w).result(y); });
}
ShardRule ConvolutionInputGradOp::shardRule() {
  return convolutionRule(
      getResult(), getWeight(), getCotangent(), 'o',
      [](Rule &rule, Factors x, Factors w, Factors y) { rule.operand(y).operand(w).result(x); });
}
ShardRule ConvolutionWeightGradOp::shardRule() {
  return convolutionRule(
      getInput(), getResult(), getCotangent(), 'n',
      [](Rule &rule, Factors x, Factors w, Factors y) { rule.operand(x).operand(y).result(w); });
}

ShardRule MaxPoolOp::shardRule() {
  Rule rule;
  auto input = shapeOf(getInput());
  Factors leading = rule.factors(input.drop_back(2)),
          places = rule.factors(input.take_back(2), Kind::whole);
  Factors windows = rule.factors(shapeOf(getResult()).take_back(2), Kind::whole);
  return rule.operand(joined(leading, places)).result(joined(leading, windows)).rule;
}
ShardRule MaxPoolGradOp::shardRule() {
  Rule rule;
  auto input = shapeOf(getInput());
  Factors leading = rule.factors(input.drop_back(2)),
          places = rule.factors(input.take_back(2), Kind::whole);
  Factors windows = rule.factors(shapeOf(getCotangent()).take_back(2), Kind::whole);
  Factors image = joined(leading, places);
  return rule.operand(image).operand(joined(leading, windows)).result(image).rule;
}

// Ops on rows: every value has the leading dimensions, and those of full rank a last one that is
// whole.
static ShardRule rowsRule(Operation *op, Value rows) {
  Rule rule;
  Factors leading = rule.factors(shapeOf(rows).drop_back());
  Factors all = joined(leading, rule.factor(shapeOf(rows).back(), Kind::whole));
  auto of = [&](Value value) { return shapeOf(value).size() == all.size() ? all : leading; };
  for (Value operand : op->getOperands())
    rule.operand(of(operand));
  for (Value result : op->getResults())
    rule.result(of(result));
  return rule.rule;
}
ShardRule NormalizeOp::shardRule() { return rowsRule(*this, getInput()); }
ShardRule NormalizeGradOp::shardRule() { return rowsRule(*this, getInput()); }
ShardRule SoftmaxCrossEntropyOp::shardRule() { return rowsRule(*this, getLogits()); }
ShardRule SoftmaxCrossEntropyGradOp::shardRule() { return rowsRule(*this, getLogits()); }

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

ShardRule RandomOp::shardRule() {
  Rule rule;
  for (unsigned i = 0; i < 3; ++i)
    rule.operand(Factors());
  return rule.result(rule.factors(shapeOf(getResult()))).rule;
}

} // namespace weir
