//===- AttentionGradient.cpp - Kernels of attention, backward -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With P = exp(scale q k^T - log_sum_exp), dP = g v^T and D = the row sums of g * output:
//   dS = P * (dP - D) * scale    dq = dS k    dk = dS^T q    dv = P^T g
// P and dS of a block of queries are made in the thread's scratch; dk and dv gather there over the
// blocks.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/AttentionTiles.h"
#include "ir/weir/attention/Attention.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weir {

/// Queries of a block: what dk and dv are read and written once for.
constexpr int64_t blockRows = 16;

LogicalResult emitAttentionGradient(Emission &e, AttendGradOp op) {
  AttentionTiles t(e, op.getQuery(), op.getKey(), op.getCausal());
  auto query = t.input(op.getQuery()), key = t.input(op.getKey()), value = t.input(op.getValue()),
       output = t.input(op.getOutput()), logSumExp = t.input(op.getLogSumExp()),
       cotangent = t.input(op.getCotangent());
  if (!query || !key || !value || !output || !logSumExp || !cotangent)
    return failure();
  auto queryGrad = t.output(op.getQueryGrad()), keyGrad = t.output(op.getKeyGrad()),
       valueGrad = t.output(op.getValueGrad());
  if (failed(t.checkOutputs()))
    return failure();
  SmallVector<HeadView *> views{&*query, &*key, &*value, &*output, &*logSumExp, &*cotangent};
  for (auto *view : {&queryGrad, &keyGrad, &valueGrad})
    if (*view)
      views.push_back(&**view);

  using Values = AttentionTiles::Values;
  Buffer transposedKeys, transposedValues, keys, queries, cotangents, weights, slopes, keySums,
      valueSums;
  int64_t rows = t.tileRows, vectors = t.tileVectors, lanes = t.lanes;
  auto allocate = [&] {
    transposedKeys = t.scratch(t.width * t.paddedKeys);
    transposedValues = t.scratch(t.width * t.paddedKeys);
    keys = t.scratch(t.paddedKeys * t.paddedWidth);
    queries = t.scratch(blockRows * t.paddedWidth);
    cotangents = t.scratch(blockRows * t.paddedWidth);
    weights = t.scratch(blockRows * t.paddedKeys);
    slopes = t.scratch(blockRows * t.paddedKeys);
    keySums = t.scratch(t.paddedKeys * t.paddedWidth);
    valueSums = t.scratch(t.paddedKeys * t.paddedWidth);
  };
  double scale = op.getScale().convertToDouble();
  int64_t block = std::min(t.paddedWidth, vectors * lanes);

  t.forEachHead(estimatedTime(e.kernel), views, allocate, [&] {
    t.packTransposed(*key, transposedKeys);
    t.packTransposed(*value, transposedValues);
    t.packRows(*key, t.keys, keys);
    t.loop(0, t.paddedKeys * t.paddedWidth, lanes, {}, [&](Value at, ValueRange) -> Values {
      t.storeVector(keySums, at, t.splat(t.constant(0)));
      t.storeVector(valueSums, at, t.splat(t.constant(0)));
      return {};
    });
    t.loop(0, t.queries, blockRows, {}, [&](Value firstOfBlock, ValueRange) -> Values {
      Value lastOfBlock = t.min(t.add(firstOfBlock, blockRows - 1), t.queries - 1);
      Value end = t.endOfTiles(lastOfBlock);
      // Rows of the block past the last query repeat it, with weights of zero.
      auto packBlock = [&](const HeadView &view, const Buffer &packed) {
        t.loop(0, blockRows, 1, {}, [&](Value r, ValueRange) -> Values {
          Value row = t.min(t.add(firstOfBlock, r), t.queries - 1);
          auto copy = [&](int64_t low, int64_t high, bool zero) {
            if (low == high)
              return;
            scf::ForOp columns = e.loop(t.index(low), t.index(high));
            columns->setAttr(lanesName, e.builder.getUnitAttr());
            Value column = columns.getInductionVar();
            Value element =
                zero ? t.constant(0) : t.load(view.buffer, t.position(view, row, column));
            t.store(packed, t.add(t.mul(r, t.paddedWidth), column), element);
            e.done(columns);
          };
          copy(0, t.width, false);
          copy(t.width, t.paddedWidth, true);
          return {};
        });
      };
      packBlock(*query, queries);
      packBlock(*cotangent, cotangents);

      t.loop(0, blockRows, rows, {}, [&](Value within, ValueRange) -> Values {
        Value first = t.add(firstOfBlock, within);
        Values row = t.rowsFrom(first, rows), rowOfBlock, offset, shift, last;
        for (int64_t r = 0; r < rows; ++r) {
          Values sum =
              t.loop(0, t.width, 1, t.constant(0), [&](Value column, ValueRange carried) -> Values {
                Value a = t.load(cotangent->buffer, t.position(*cotangent, row[r], column));
                Value b = t.load(output->buffer, t.position(*output, row[r], column));
                return {t.addf(carried[0], t.mulf(a, b))};
              });
          sum[0].getDefiningOp()->setAttr(lanesName, e.builder.getUnitAttr());
          offset.push_back(sum[0]);
          rowOfBlock.push_back(t.add(within, r));
          shift.push_back(t.load(logSumExp->buffer, t.position(*logSumExp, row[r], Value())));
          // A row past the end sees no key.
          Value exists = arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::slt,
                                               t.add(first, r), t.index(t.queries));
          last.push_back(t.select(exists, t.lastKeyOf(row[r]), t.index(-1)));
        }
        for (Value &value : offset)
          value = t.splat(value);
        for (Value &value : shift)
          value = t.splat(value);
        t.loop(t.index(0), end, t.tileKeys, {}, [&](Value at, ValueRange) -> Values {
          auto place = [&](int64_t r, int64_t v) {
            return t.add(t.add(t.mul(t.add(within, r), t.paddedKeys), at), v * lanes);
          };
          Values scores = t.tileProduct(t.packedView(queries), rowOfBlock, transposedKeys, at);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t v = 0; v < vectors; ++v) {
              Value score = t.mulf(scores[r * vectors + v], t.splat(t.constant(scale)));
              Value weight = t.exp(t.subf(score, shift[r]));
              Value seen = t.lanesUpTo(t.add(at, v * lanes), last[r]);
              t.storeVector(weights, place(r, v), t.select(seen, weight, t.splat(t.constant(0))));
            }
          Values products =
              t.tileProduct(t.packedView(cotangents), rowOfBlock, transposedValues, at);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t v = 0; v < vectors; ++v) {
              Value weight = t.mulf(t.loadVector(weights, place(r, v)), t.splat(t.constant(scale)));
              Value slope = t.mulf(weight, t.subf(products[r * vectors + v], offset[r]));
              t.storeVector(slopes, place(r, v), slope);
            }
          return {};
        });
        if (!queryGrad)
          return {};
        Value seen = t.add(t.lastKeyOf(row.back()), 1);
        for (int64_t column = 0; column < t.paddedWidth; column += block) {
          int64_t count = std::min(block, t.paddedWidth - column) / lanes;
          Values sums = t.loop(
              t.index(0), seen, 1, Values(rows * count, t.splat(t.constant(0))),
              [&](Value at, ValueRange carried) {
                Values loaded, next;
                for (int64_t v = 0; v < count; ++v)
                  loaded.push_back(
                      t.loadVector(keys, t.add(t.mul(at, t.paddedWidth), column + v * lanes)));
                for (int64_t r = 0; r < rows; ++r) {
                  Value factor =
                      t.splat(t.load(slopes, t.add(t.mul(t.add(within, r), t.paddedKeys), at)));
                  for (int64_t v = 0; v < count; ++v)
                    next.push_back(t.fma(factor, loaded[v], carried[r * count + v]));
                }
                return next;
              });
          // Rows past the end must not overwrite the last one: their sums are zero, not its.
          for (int64_t r = 0; r < rows; ++r) {
            Value exists = arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::slt,
                                                 t.add(first, r), t.index(t.queries));
            auto guard = scf::IfOp::create(e.builder, e.loc, exists, /*withElseRegion=*/false);
            OpBuilder::InsertionGuard insertion(e.builder);
            e.builder.setInsertionPointToStart(guard.thenBlock());
            for (int64_t v = 0; v < count; ++v)
              t.storeColumns(*queryGrad, row[r], column + v * lanes, sums[r * count + v]);
          }
        }
        return {};
      });

      // dk and dv of four keys at a time: the block's queries, in registers.
      t.loop(t.index(0), end, rows, {}, [&](Value firstKey, ValueRange) -> Values {
        auto gather = [&](const Buffer &sums, const Buffer &factors, const Buffer &packed) {
          for (int64_t column = 0; column < t.paddedWidth; column += block) {
            int64_t count = std::min(block, t.paddedWidth - column) / lanes;
            auto place = [&](int64_t r, int64_t v) {
              return t.add(t.mul(t.add(firstKey, r), t.paddedWidth), column + v * lanes);
            };
            Values initial;
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t v = 0; v < count; ++v)
                initial.push_back(t.loadVector(sums, place(r, v)));
            Values total = t.loop(0, blockRows, 1, initial, [&](Value row, ValueRange carried) {
              Values loaded, next;
              for (int64_t v = 0; v < count; ++v)
                loaded.push_back(
                    t.loadVector(packed, t.add(t.mul(row, t.paddedWidth), column + v * lanes)));
              for (int64_t r = 0; r < rows; ++r) {
                Value factor =
                    t.splat(t.load(factors, t.add(t.add(t.mul(row, t.paddedKeys), firstKey), r)));
                for (int64_t v = 0; v < count; ++v)
                  next.push_back(t.fma(factor, loaded[v], carried[r * count + v]));
              }
              return next;
            });
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t v = 0; v < count; ++v)
                t.storeVector(sums, place(r, v), total[r * count + v]);
          }
        };
        if (keyGrad)
          gather(keySums, slopes, queries);
        if (valueGrad)
          gather(valueSums, weights, cotangents);
        return {};
      });
      return {};
    });
    if (keyGrad)
      t.unpackRows(keySums, t.keys, *keyGrad);
    if (valueGrad)
      t.unpackRows(valueSums, t.keys, *valueGrad);
  });
  return success();
}

} // namespace weir
