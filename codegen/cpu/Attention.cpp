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

LogicalResult emitAttentionGradient(Emission &emission, AttendGradOp op);

static LogicalResult emitForward(Emission &e, AttendOp op) {
  AttentionTiles t(e, op.getQuery(), op.getKey(), op.getCausal());
  auto query = t.input(op.getQuery()), key = t.input(op.getKey()), value = t.input(op.getValue());
  if (!query || !key || !value)
    return failure();
  auto result = t.output(op.getResult()), logSumExp = t.output(op.getLogSumExp());
  if (failed(t.checkOutputs()))
    return failure();
  SmallVector<HeadView *> views{&*query, &*key, &*value};
  if (result)
    views.push_back(&*result);
  if (logSumExp)
    views.push_back(&*logSumExp);

  using Values = AttentionTiles::Values;
  Buffer queries, keys, values, scores;
  bool widens = !tensorType(e.kernel.getOperand(query->buffer.input)).getElementType().isF32();
  auto allocate = [&] {
    if (widens)
      queries = t.scratch(t.queries * t.paddedWidth);
    keys = t.scratch(t.width * t.paddedKeys);
    values = t.scratch(t.keys * t.paddedWidth);
    scores = t.scratch(t.tileRows * t.paddedKeys);
  };
  double scale = op.getScale().convertToDouble();
  int64_t rows = t.tileRows, vectors = t.tileVectors, lanes = t.lanes;
  double lowest = -std::numeric_limits<double>::infinity();

  t.forEachHead(estimatedTime(e.kernel), views, allocate, [&] {
    t.packTransposed(*key, keys);
    t.packRows(*value, t.keys, values);
    HeadView wideQuery = *query;
    if (widens) { // once, not once a tile
      t.packRows(*query, t.queries, queries);
      wideQuery = t.packedView(queries);
    }
    t.loop(0, t.queries, rows, {}, [&](Value first, ValueRange) -> Values {
      Values row = t.rowsFrom(first, rows);
      Value end = t.endOfTiles(row.back());
      Values largest(rows, t.splat(t.constant(lowest)));
      largest = t.loop(t.index(0), end, t.tileKeys, largest, [&](Value at, ValueRange carried) {
        Values tile = t.tileProduct(wideQuery, row, keys, at), next;
        for (int64_t r = 0; r < rows; ++r) {
          Value most = carried[r], last = t.lastKeyOf(row[r]);
          for (int64_t v = 0; v < vectors; ++v) {
            Value position = t.add(at, v * lanes);
            Value score = t.mulf(tile[r * vectors + v], t.splat(t.constant(scale)));
            score = t.select(t.lanesUpTo(position, last), score, t.splat(t.constant(lowest)));
            t.storeVector(scores, t.add(position, r * t.paddedKeys), score);
            most = combine(e.builder, e.loc, Reduction::max, most, score);
          }
          next.push_back(most);
        }
        return next;
      });
      auto reduced = [&](Value vector, vector::CombiningKind kind) -> Value {
        auto op = vector::ReductionOp::create(e.builder, e.loc, kind, vector);
        if (kind == vector::CombiningKind::MAXIMUMF)
          op.setFastmath(arith::FastMathFlags::nnan);
        return op;
      };
      for (Value &most : largest)
        most = reduced(most, vector::CombiningKind::MAXIMUMF);
      Values sums(rows, t.splat(t.constant(0)));
      sums = t.loop(t.index(0), end, lanes, sums, [&](Value at, ValueRange carried) {
        Values next;
        for (int64_t r = 0; r < rows; ++r) {
          Value position = t.add(at, r * t.paddedKeys);
          Value weight = t.exp(t.subf(t.loadVector(scores, position), t.splat(largest[r])));
          t.storeVector(scores, position, weight);
          next.push_back(t.addf(carried[r], weight));
        }
        return next;
      });
      for (auto [r, sum] : llvm::enumerate(sums)) {
        sum = reduced(sum, vector::CombiningKind::ADD);
        if (logSumExp)
          t.store(logSumExp->buffer, t.position(*logSumExp, row[r], Value()),
                  t.addf(largest[r], math::LogOp::create(e.builder, e.loc, sum)));
      }
      if (!result)
        return {};
      Value seen = t.add(t.lastKeyOf(row.back()), 1);
      int64_t block = std::min(t.paddedWidth, vectors * lanes);
      for (int64_t column = 0; column < t.paddedWidth; column += block) {
        int64_t count = std::min(block, t.paddedWidth - column) / lanes;
        Values zeros(rows * count, t.splat(t.constant(0)));
        Values outputs = t.loop(t.index(0), seen, 1, zeros, [&](Value at, ValueRange carried) {
          Values loaded, next;
          for (int64_t v = 0; v < count; ++v)
            loaded.push_back(
                t.loadVector(values, t.add(t.mul(at, t.paddedWidth), column + v * lanes)));
          for (int64_t r = 0; r < rows; ++r) {
            Value weight = t.splat(t.load(scores, t.add(at, r * t.paddedKeys)));
            for (int64_t v = 0; v < count; ++v)
              next.push_back(t.fma(weight, loaded[v], carried[r * count + v]));
          }
          return next;
        });
        for (int64_t r = 0; r < rows; ++r) {
          Value factor = t.splat(arith::DivFOp::create(e.builder, e.loc, t.constant(1), sums[r]));
          for (int64_t v = 0; v < count; ++v)
            t.storeColumns(*result, row[r], column + v * lanes,
                           t.mulf(outputs[r * count + v], factor));
        }
      }
      return {};
    });
  });
  return success();
}

LogicalResult emitAttention(Emission &e) {
  for (Operation &op : e.body()) {
    if (auto attend = dyn_cast<AttendOp>(op))
      return emitForward(e, attend);
    if (auto gradient = dyn_cast<AttendGradOp>(op))
      return emitAttentionGradient(e, gradient);
  }
  return e.kernel.emitError("an attention kernel without attention");
}

} // namespace weir
