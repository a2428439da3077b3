//===- Loss.cpp - Loss terms ----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/rows/Rows.h"
#include "tools/dev/weir-smith/Step.h"

using namespace mlir;

namespace weir::smith {

Value sumOf(Scope &s, Value value) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
  return axes.empty() ? value : Value(s.make<ReduceOp>(value, Reduction::sum, axes));
}

namespace {

/// 1 where the whole numbers are positive, as f32.
Value maskOf(Scope &s, Value numbers) {
  Value holds = s.make<CompareOp>(Predicate::gt, numbers, s.constant(numbers.getType(), 0));
  return s.make<CastOp>(s.type(shapeOf(numbers)), holds);
}

/// A sum of the value's elements, or of a function of them.
Value sumOfSome(Scope &s, Value value) {
  double choice = s.random().unit();
  if (choice < 0.5)
    return sumOf(s, s.map<MulOp>(value, value));
  if (choice < 0.7 && tensorType(value).getRank() > 0) {
    Shape rows = withoutLast(shapeOf(value));
    Value labels = s.indices(rows, shapeOf(value).back());
    return sumOf(s, s.make<SoftmaxCrossEntropyOp>(value, labels).getLoss());
  }
  if (choice < 0.85)
    if (Value other = s.like(value); !s.isBlocked(other))
      return sumOf(s, s.map<MulOp>(value, other));
  return sumOf(s, value);
}

/// Adds up the mask of all microbatches by microbatches of its own, as the frontend does.
Value countInRounds(Scope &top, Value whole, int64_t count) {
  Scope body(top, count);
  Shape rows(shapeOf(whole));
  rows[0] /= count;
  Value part = body.block->addArgument(body.type(rows, Element::i32), body.location());
  body.trying = false;
  Value sum = sumOf(body, maskOf(body, part));
  YieldOp::create(body.builder, body.location(), sum);
  auto op = MicrobatchesOp::create(top.builder, top.location(), sum.getType(), count, whole,
                                   ValueRange());
  op.getBody().push_back(body.block);
  if (!top.trial->execute(*op))
    throw Refused();
  return op.getResult(0);
}

LossTerm masked(Scope &s, Value value) {
  Value perRow = value;
  int64_t rank = tensorType(value).getRank();
  if (rank > 1) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(1, rank));
    perRow = s.make<ReduceOp>(s.map<MulOp>(value, value), Reduction::sum, axes);
  }
  Value numbers = s.input(s.type(shapeOf(perRow), Element::i32), -2, 5);
  Value mask = maskOf(s, numbers), count;
  if (s.outer) {
    Value whole = s.sliced.back();
    if (s.random().chance(0.5))
      count = countInRounds(*s.outer, whole, s.microbatches);
    else
      count = sumOf(*s.outer, maskOf(*s.outer, whole));
  } else {
    count = sumOf(s, mask);
  }
  if (s.known(count).truth.values[0] < 1)
    throw Refused();
  return {sumOf(s, s.map<MulOp>(perRow, mask)), count, 1};
}

} // namespace

std::vector<LossTerm> makeLoss(Scope &s) {
  std::vector<Value> ends, all;
  for (Value value : s.pool)
    if (elementOf(value) == Element::f32 && s.isActive(value) && !s.isBlocked(value)) {
      all.push_back(value);
      if (value.use_empty() && !value.getDefiningOp<ReadOp>())
        ends.push_back(value);
    }
  if (ends.empty())
    ends.push_back(all.empty() ? s.parameter(s.type(s.shape(0, 2)))
                               : all[s.random().below(all.size())]);
  size_t count = ends.size() > 1 && s.random().chance(0.4) ? 2 : 1;
  std::vector<LossTerm> terms;
  for (size_t i = 0; i < count; ++i) {
    LossTerm term{};
    Value masking = tensorType(ends[i]).getRank() > 0 && s.random().chance(0.4) ? ends[i] : Value();
    if (!masking || !s.attempt([&](Scope &) { term = masked(s, masking); })) {
      term.sum = sumOfSome(s, ends[i]);
      Scope &at = s.outer ? *s.outer : s;
      term.count = at.constant(s.type({}), double(tensorType(ends[i]).getNumElements()));
    }
    term.weight = i == 0 && s.random().chance(0.7) ? 1 : s.random().one({0.5, 1.0, 0.25});
    terms.push_back(term);
  }
  for (size_t i = count; i < ends.size(); ++i) {
    Value &sum = terms[i % count].sum;
    sum = s.map<AddOp>(sum, sumOfSome(s, ends[i]));
  }
  return terms;
}

Value lossOf(Scope &s, ArrayRef<LossTerm> terms) {
  SmallVector<Value> sums, counts;
  SmallVector<double> weights;
  for (const LossTerm &term : terms) {
    sums.push_back(term.sum);
    counts.push_back(term.count);
    weights.push_back(term.weight);
  }
  return LossOp::create(s.builder, s.location(), s.type({}), weights, sums, counts);
}

void tryLoss(Scope &s, ArrayRef<LossTerm> terms) {
  Value total;
  for (const LossTerm &term : terms) {
    Value part = s.map<DivOp>(term.sum, term.count);
    if (term.weight != 1)
      part = s.map<MulOp>(part, s.constant(part.getType(), term.weight));
    total = total ? s.map<AddOp>(total, part) : part;
  }
}

} // namespace weir::smith
