//===- AttentionGradient.cpp - Kernels of attention, backward -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With P = exp(scale q k^T - log_sum_exp), dP = g v^T and D = the row sums of g * output:
//   dS = P * (dP - D) * scale    dq = dS k    dk = dS^T q    dv = P^T g
// The thread's scratch holds P and dS of a block of queries, and the sums of dk and dv over the
// blocks.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/AttentionTiles.h"
#include "ir/weir/attention/Attention.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weir {

namespace {

/// Queries of a block: each block reads and writes the sums of dk and dv once.
constexpr int64_t blockRows = 16;

/// Emits a kernel of attention, backward.
class AttentionGradient {
public:
  AttentionGradient(Emission &emission, AttentionGradOp op)
      : e(emission), op(op), t(emission, op.getQuery(), op.getKey(), op.getCausal()),
        scale(op.getScale().convertToDouble()) {}

  LogicalResult emit();

private:
  using Values = AttentionTiles::Values;

  /// A tile of a block's queries: one value a row.
  struct Tile {
    Value first;          ///< query
    Values rows;          ///< queries; those past the end are the last one
    Values rowsOfBlock;   ///< rows of the packed block
    Values offset, shift; ///< D and the log-sum-exp, in all lanes
    Values last;          ///< the last key seen; -1 past the end
  };

  /// Finds the kernel's inputs and results.
  LogicalResult bind();
  /// The views that the kernel has.
  SmallVector<HeadView *> views();
  void allocate();

  /// All gradients of a (batch, head).
  void emitHead();
  void clearSums();
  /// dq of a block of queries, and what the block adds to dk and dv.
  void emitBlock(Value firstOfBlock);
  void packBlock(const HeadView &view, Value firstOfBlock, const Buffer &packed);
  /// Weights, slopes and dq of the tile `within` the block; keys end at `end`.
  void emitTile(Value firstOfBlock, Value within, Value end);
  Tile loadTile(Value firstOfBlock, Value within);
  /// The sum of cotangent times output over a row.
  Value offsetOf(Value row);
  /// Whether query `first` + `r` is not past the end.
  Value exists(Value first, int64_t r);
  /// P and dS for the tile of keys that starts at `at`.
  void storeWeights(const Tile &tile, Value within, Value at);
  void storeSlopes(const Tile &tile, Value within, Value at);
  /// Where P and dS have vector `v` of row `r`.
  Value placeOf(Value within, Value at, int64_t r, int64_t v);
  void storeQueryGrad(const Tile &tile, Value within);
  /// sums[key] += the sum of factors[row, key] * packed[row] over the block's rows, for a tile of
  /// keys from `firstKey` on.
  void gather(Value firstKey, const Buffer &sums, const Buffer &factors, const Buffer &packed);

  Emission &e;
  AttentionGradOp op;
  AttentionTiles t;
  double scale;
  std::optional<HeadView> query, key, value, output, logSumExp, cotangent;
  std::optional<HeadView> queryGrad, keyGrad, valueGrad;
  Buffer transposedKeys, transposedValues, keys; ///< of the (batch, head)
  Buffer queries, cotangents;                    ///< of the block
  Buffer weights, slopes;                        ///< of the block: P and dS
  Buffer keySums, valueSums;                     ///< dk and dv of the (batch, head)
};

LogicalResult AttentionGradient::emit() {
  if (failed(bind()))
    return failure();
  t.forEachHead(estimatedTime(e.kernel), views(), [&] { allocate(); }, [&] { emitHead(); });
  return success();
}

LogicalResult AttentionGradient::bind() {
  query = t.input(op.getQuery());
  key = t.input(op.getKey());
  value = t.input(op.getValue());
  output = t.input(op.getOutput());
  logSumExp = t.input(op.getLogSumExp());
  cotangent = t.input(op.getCotangent());
  if (!query || !key || !value || !output || !logSumExp || !cotangent)
    return failure();
  queryGrad = t.output(op.getQueryGrad());
  keyGrad = t.output(op.getKeyGrad());
  valueGrad = t.output(op.getValueGrad());
  return t.checkOutputs();
}

SmallVector<HeadView *> AttentionGradient::views() {
  SmallVector<HeadView *> views{&*query, &*key, &*value, &*output, &*logSumExp, &*cotangent};
  for (auto *view : {&queryGrad, &keyGrad, &valueGrad})
    if (*view)
      views.push_back(&**view);
  return views;
}

void AttentionGradient::allocate() {
  transposedKeys = t.scratch(t.width * t.paddedKeys);
  transposedValues = t.scratch(t.width * t.paddedKeys);
  keys = t.scratch(t.paddedKeys * t.paddedWidth);
  queries = t.scratch(blockRows * t.paddedWidth);
  cotangents = t.scratch(blockRows * t.paddedWidth);
  weights = t.scratch(blockRows * t.paddedKeys);
  slopes = t.scratch(blockRows * t.paddedKeys);
  keySums = t.scratch(t.paddedKeys * t.paddedWidth);
  valueSums = t.scratch(t.paddedKeys * t.paddedWidth);
}

void AttentionGradient::emitHead() {
  t.packTransposed(*key, transposedKeys);
  t.packTransposed(*value, transposedValues);
  t.packRows(*key, t.keys, keys);
  clearSums();
  t.loop(0, t.queries, blockRows, {}, [&](Value firstOfBlock, ValueRange) -> Values {
    emitBlock(firstOfBlock);
    return {};
  });
  if (keyGrad)
    t.unpackRows(keySums, t.keys, *keyGrad);
  if (valueGrad)
    t.unpackRows(valueSums, t.keys, *valueGrad);
}

void AttentionGradient::clearSums() {
  t.loop(0, t.paddedKeys * t.paddedWidth, t.lanes, {}, [&](Value at, ValueRange) -> Values {
    t.storeVector(keySums, at, t.splat(t.constant(0)));
    t.storeVector(valueSums, at, t.splat(t.constant(0)));
    return {};
  });
}

void AttentionGradient::emitBlock(Value firstOfBlock) {
  Value lastOfBlock = t.min(t.add(firstOfBlock, blockRows - 1), t.queries - 1);
  Value end = t.endOfTiles(lastOfBlock);
  packBlock(*query, firstOfBlock, queries);
  packBlock(*cotangent, firstOfBlock, cotangents);
  t.loop(0, blockRows, t.tileRows, {}, [&](Value within, ValueRange) -> Values {
    emitTile(firstOfBlock, within, end);
    return {};
  });
  // The sums of a tile of keys stay in registers over the block's queries.
  t.loop(t.index(0), end, t.tileRows, {}, [&](Value firstKey, ValueRange) -> Values {
    if (keyGrad)
      gather(firstKey, keySums, slopes, queries);
    if (valueGrad)
      gather(firstKey, valueSums, weights, cotangents);
    return {};
  });
}

/// Rows of the block past the last query repeat it, with weights of zero.
void AttentionGradient::packBlock(const HeadView &view, Value firstOfBlock, const Buffer &packed) {
  t.loop(0, blockRows, 1, {}, [&](Value r, ValueRange) -> Values {
    Value row = t.min(t.add(firstOfBlock, r), t.queries - 1);
    t.packRow(view, row, packed, r);
    return {};
  });
}

void AttentionGradient::emitTile(Value firstOfBlock, Value within, Value end) {
  Tile tile = loadTile(firstOfBlock, within);
  t.loop(t.index(0), end, t.tileKeys, {}, [&](Value at, ValueRange) -> Values {
    storeWeights(tile, within, at);
    storeSlopes(tile, within, at);
    return {};
  });
  if (queryGrad)
    storeQueryGrad(tile, within);
}

AttentionGradient::Tile AttentionGradient::loadTile(Value firstOfBlock, Value within) {
  Tile tile;
  tile.first = t.add(firstOfBlock, within);
  tile.rows = t.rowsFrom(tile.first, t.tileRows);
  for (int64_t r = 0; r < t.tileRows; ++r) {
    Value row = tile.rows[r];
    tile.offset.push_back(offsetOf(row));
    tile.rowsOfBlock.push_back(t.add(within, r));
    tile.shift.push_back(t.load(logSumExp->buffer, t.position(*logSumExp, row, Value())));
    // A row past the end sees no key.
    Value isQuery = exists(tile.first, r);
    tile.last.push_back(t.select(isQuery, t.lastKeyOf(row), t.index(-1)));
  }
  for (Value &value : tile.offset)
    value = t.splat(value);
  for (Value &value : tile.shift)
    value = t.splat(value);
  return tile;
}

Value AttentionGradient::offsetOf(Value row) {
  Values sum =
      t.loop(0, t.width, 1, t.constant(0), [&](Value column, ValueRange carried) -> Values {
        Value a = t.load(cotangent->buffer, t.position(*cotangent, row, column));
        Value b = t.load(output->buffer, t.position(*output, row, column));
        return {t.addf(carried[0], t.mulf(a, b))};
      });
  sum[0].getDefiningOp()->setAttr(lanesName, e.builder.getUnitAttr());
  return sum[0];
}

Value AttentionGradient::exists(Value first, int64_t r) {
  return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::slt, t.add(first, r),
                               t.index(t.queries));
}

Value AttentionGradient::placeOf(Value within, Value at, int64_t r, int64_t v) {
  return t.add(t.add(t.mul(t.add(within, r), t.paddedKeys), at), v * t.lanes);
}

void AttentionGradient::storeWeights(const Tile &tile, Value within, Value at) {
  Values scores = t.tileProduct(t.packedView(queries), tile.rowsOfBlock, transposedKeys, at);
  for (int64_t r = 0; r < t.tileRows; ++r)
    for (int64_t v = 0; v < t.tileVectors; ++v) {
      Value score = t.mulf(scores[r * t.tileVectors + v], t.splat(t.constant(scale)));
      Value weight = t.exp(t.subf(score, tile.shift[r]));
      Value seen = t.lanesUpTo(t.add(at, v * t.lanes), tile.last[r]);
      t.storeVector(weights, placeOf(within, at, r, v),
                    t.select(seen, weight, t.splat(t.constant(0))));
    }
}

void AttentionGradient::storeSlopes(const Tile &tile, Value within, Value at) {
  Values products = t.tileProduct(t.packedView(cotangents), tile.rowsOfBlock, transposedValues, at);
  for (int64_t r = 0; r < t.tileRows; ++r)
    for (int64_t v = 0; v < t.tileVectors; ++v) {
      Value weight =
          t.mulf(t.loadVector(weights, placeOf(within, at, r, v)), t.splat(t.constant(scale)));
      Value slope = t.mulf(weight, t.subf(products[r * t.tileVectors + v], tile.offset[r]));
      t.storeVector(slopes, placeOf(within, at, r, v), slope);
    }
}

void AttentionGradient::storeQueryGrad(const Tile &tile, Value within) {
  Value seen = t.add(t.lastKeyOf(tile.rows.back()), 1);
  t.forColumnBlocks([&](int64_t column, int64_t count) {
    Values sums =
        t.loop(t.index(0), seen, 1, Values(t.tileRows * count, t.splat(t.constant(0))),
               [&](Value at, ValueRange carried) {
                 auto slopeOf = [&](int64_t r) {
                   return t.load(slopes, t.add(t.mul(t.add(within, r), t.paddedKeys), at));
                 };
                 return t.addOuterProduct(carried, slopeOf, keys, at, column, count);
               });
    // Rows past the end must not overwrite the last one: their sums are zero, not its.
    for (int64_t r = 0; r < t.tileRows; ++r) {
      Value isQuery = exists(tile.first, r);
      auto guard = scf::IfOp::create(e.builder, e.loc, isQuery, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard insertion(e.builder);
      e.builder.setInsertionPointToStart(guard.thenBlock());
      for (int64_t v = 0; v < count; ++v)
        t.storeColumns(*queryGrad, tile.rows[r], column + v * t.lanes, sums[r * count + v]);
    }
  });
}

void AttentionGradient::gather(Value firstKey, const Buffer &sums, const Buffer &factors,
                               const Buffer &packed) {
  t.forColumnBlocks([&](int64_t column, int64_t count) {
    auto place = [&](int64_t r, int64_t v) {
      return t.add(t.mul(t.add(firstKey, r), t.paddedWidth), column + v * t.lanes);
    };
    Values initial;
    for (int64_t r = 0; r < t.tileRows; ++r)
      for (int64_t v = 0; v < count; ++v)
        initial.push_back(t.loadVector(sums, place(r, v)));
    Values total = t.loop(0, blockRows, 1, initial, [&](Value row, ValueRange carried) {
      auto factorOf = [&](int64_t r) {
        return t.load(factors, t.add(t.add(t.mul(row, t.paddedKeys), firstKey), r));
      };
      return t.addOuterProduct(carried, factorOf, packed, row, column, count);
    });
    for (int64_t r = 0; r < t.tileRows; ++r)
      for (int64_t v = 0; v < count; ++v)
        t.storeVector(sums, place(r, v), total[r * count + v]);
  });
}

} // namespace

LogicalResult emitAttentionGradient(Emission &emission, AttentionGradOp op) {
  return AttentionGradient(emission, op).emit();
}

} // namespace weir
