//===- Attention.cpp - Kernels of attention, forward ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FlashAttention's recomputation (Dao et al., 2022) with whole rows of scores: of a few queries at
// a time the scores for all keys fit into the first-level cache, so the softmax is a plain one.
// Only its log-sum-exp is kept for the gradient.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/attention/Attention.h"
#include "codegen/cpu/AttentionTiles.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weir {

LogicalResult emitAttentionGradient(Emission &emission, AttentionGradOp op);

namespace {

/// Emits a kernel of attention, forward.
class AttentionForward {
public:
  AttentionForward(Emission &emission, AttentionOp op)
      : e(emission), op(op), t(emission, op.getQuery(), op.getKey(), op.getCausal()),
        scale(op.getScale().convertToDouble()) {}

  LogicalResult emit();

private:
  using Values = AttentionTiles::Values;

  /// The result and the log-sum-exp of all queries of a (batch, head).
  void emitHead();
  /// The same of one tile of queries, from `first` on.
  void emitTile(Value first);
  /// Stores the scaled scores for keys up to `end`, and gives each row's largest in every lane.
  Values storeScores(ArrayRef<Value> rows, Value end);
  /// Replaces scores by their exponentials, less the largest, and gives the sums of each lane.
  Values storeWeights(ArrayRef<Value> largest, Value end);
  /// Sums each row's lanes and stores the log-sum-exp.
  void reduceSums(Values &sums, ArrayRef<Value> rows, ArrayRef<Value> largest);
  void storeResult(ArrayRef<Value> rows, ArrayRef<Value> sums);
  /// The largest lane, or the sum of the lanes.
  Value reduced(Value vector, vector::CombiningKind kind);

  Emission &e;
  AttentionOp op;
  AttentionTiles t;
  double scale;
  std::optional<HeadView> query, key, value, result, logSumExp;
  HeadView wideQuery;           ///< the query in f32
  Buffer queries, keys, values; ///< of the (batch, head); `queries` only where they widen
  Buffer scores;                ///< of the tile, then its weights
  bool widens = false;          ///< the query is of low precision
  const double lowest = -std::numeric_limits<double>::infinity();
};

LogicalResult AttentionForward::emit() {
  query = t.input(op.getQuery());
  key = t.input(op.getKey());
  value = t.input(op.getValue());
  if (!query || !key || !value)
    return failure();
  result = t.output(op.getResult());
  logSumExp = t.output(op.getLogSumExp());
  if (failed(t.checkOutputs()))
    return failure();
  SmallVector<HeadView *> views{&*query, &*key, &*value};
  if (result)
    views.push_back(&*result);
  if (logSumExp)
    views.push_back(&*logSumExp);
  widens = !tensorType(e.kernel.getOperand(query->buffer.input)).getElementType().isF32();
  auto allocate = [&] {
    if (widens)
      queries = t.scratch(t.queries * t.paddedWidth);
    keys = t.scratch(t.width * t.paddedKeys);
    values = t.scratch(t.keys * t.paddedWidth);
    scores = t.scratch(t.tileRows * t.paddedKeys);
  };
  t.forEachHead(estimatedTime(e.kernel), views, allocate, [&] { emitHead(); });
  return success();
}

void AttentionForward::emitHead() {
  t.packTransposed(*key, keys);
  t.packRows(*value, t.keys, values);
  wideQuery = *query;
  if (widens) { // once, not once a tile
    t.packRows(*query, t.queries, queries);
    wideQuery = t.packedView(queries);
  }
  t.loop(0, t.queries, t.tileRows, {}, [&](Value first, ValueRange) -> Values {
    emitTile(first);
    return {};
  });
}

void AttentionForward::emitTile(Value first) {
  Values rows = t.rowsFrom(first, t.tileRows);
  Value end = t.endOfTiles(rows.back());
  Values largest = storeScores(rows, end);
  Values sums = storeWeights(largest, end);
  reduceSums(sums, rows, largest);
  if (result)
    storeResult(rows, sums);
}

AttentionTiles::Values AttentionForward::storeScores(ArrayRef<Value> rows, Value end) {
  Values largest(t.tileRows, t.splat(t.constant(lowest)));
  largest = t.loop(t.index(0), end, t.tileKeys, largest, [&](Value at, ValueRange carried) {
    Values tile = t.tileProduct(wideQuery, rows, keys, at), next;
    for (int64_t r = 0; r < t.tileRows; ++r) {
      Value most = carried[r], last = t.lastKeyOf(rows[r]);
      for (int64_t v = 0; v < t.tileVectors; ++v) {
        Value position = t.add(at, v * t.lanes);
        Value score = t.mulf(tile[r * t.tileVectors + v], t.splat(t.constant(scale)));
        score = t.select(t.lanesUpTo(position, last), score, t.splat(t.constant(lowest)));
        t.storeVector(scores, t.add(position, r * t.paddedKeys), score);
        most = combine(e.builder, e.loc, Reduction::max, most, score);
      }
      next.push_back(most);
    }
    return next;
  });
  for (Value &most : largest)
    most = reduced(most, vector::CombiningKind::MAXIMUMF);
  return largest;
}

AttentionTiles::Values AttentionForward::storeWeights(ArrayRef<Value> largest, Value end) {
  Values sums(t.tileRows, t.splat(t.constant(0)));
  return t.loop(t.index(0), end, t.lanes, sums, [&](Value at, ValueRange carried) {
    Values next;
    for (int64_t r = 0; r < t.tileRows; ++r) {
      Value position = t.add(at, r * t.paddedKeys);
      Value weight = t.exp(t.subf(t.loadVector(scores, position), t.splat(largest[r])));
      t.storeVector(scores, position, weight);
      next.push_back(t.addf(carried[r], weight));
    }
    return next;
  });
}

void AttentionForward::reduceSums(Values &sums, ArrayRef<Value> rows, ArrayRef<Value> largest) {
  for (auto [r, sum] : llvm::enumerate(sums)) {
    sum = reduced(sum, vector::CombiningKind::ADD);
    if (logSumExp)
      t.store(logSumExp->buffer, t.position(*logSumExp, rows[r], Value()),
              t.addf(largest[r], math::LogOp::create(e.builder, e.loc, sum)));
  }
}

void AttentionForward::storeResult(ArrayRef<Value> rows, ArrayRef<Value> sums) {
  Value seen = t.add(t.lastKeyOf(rows.back()), 1);
  t.forColumnBlocks([&](int64_t column, int64_t count) {
    Values zeros(t.tileRows * count, t.splat(t.constant(0)));
    Values outputs = t.loop(t.index(0), seen, 1, zeros, [&](Value at, ValueRange carried) {
      auto weightOf = [&](int64_t r) { return t.load(scores, t.add(at, r * t.paddedKeys)); };
      return t.addOuterProduct(carried, weightOf, values, at, column, count);
    });
    for (int64_t r = 0; r < t.tileRows; ++r) {
      Value factor = t.splat(arith::DivFOp::create(e.builder, e.loc, t.constant(1), sums[r]));
      for (int64_t v = 0; v < count; ++v)
        t.storeColumns(*result, rows[r], column + v * t.lanes,
                       t.mulf(outputs[r * count + v], factor));
    }
  });
}

Value AttentionForward::reduced(Value vector, vector::CombiningKind kind) {
  auto op = vector::ReductionOp::create(e.builder, e.loc, kind, vector);
  if (kind == vector::CombiningKind::MAXIMUMF)
    op.setFastmath(arith::FastMathFlags::nnan);
  return op;
}

} // namespace

LogicalResult emitAttention(Emission &e) {
  for (Operation &op : e.body()) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      return AttentionForward(e, attention).emit();
    if (auto gradient = dyn_cast<AttentionGradOp>(op))
      return emitAttentionGradient(e, gradient);
  }
  return e.kernel.emitError("an attention kernel without attention");
}

} // namespace weir
