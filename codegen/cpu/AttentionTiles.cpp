//===- AttentionTiles.cpp - What attention kernels are written with -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/AttentionTiles.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weir {

AttentionTiles::AttentionTiles(Emission &emission, Value query, Value key, bool causal)
    : e(emission), causal(causal), lanes(lanesOf(emission.processor, Element::f32)),
      outputsFound(emission.kernel.getNumResults(), false) {
  ArrayRef<int64_t> shape = shapeOf(query);
  batch = shape[0];
  heads = shape[1];
  queries = shape[2];
  width = shape[3];
  keys = shapeOf(key)[2];
  // Sixteen accumulators of thirty-two registers, or eight of sixteen; narrow heads have few
  // vectors a row, and take more rows instead.
  bool narrow = lanes == 16 && width <= 2 * lanes;
  tileRows = narrow ? 8 : 4;
  tileVectors = std::min<int64_t>(lanes == 16 && !narrow ? 4 : 2, llvm::divideCeil(keys, lanes));
  tileKeys = tileVectors * lanes;
  paddedKeys = llvm::alignTo(keys, tileKeys);
  paddedWidth = llvm::alignTo(width, lanes);
}

std::optional<HeadView> AttentionTiles::input(Value operand) {
  StridedView view = stridedView(operand);
  auto argument = dyn_cast<BlockArgument>(view.base);
  if (!argument) {
    view.base.getDefiningOp()->emitError("an attention kernel cannot read this through strides");
    return std::nullopt;
  }
  HeadView head;
  head.buffer.input = argument.getArgNumber();
  head.offset = view.offset;
  head.strides = view.strides;
  return head;
}

std::optional<HeadView> AttentionTiles::output(Value result) {
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
    if (auto view = stridedDestination(e.yielded(i), result)) {
      outputsFound[i] = true;
      HeadView head;
      head.buffer.input = -1 - int(i);
      head.offset = view->offset;
      head.strides = view->strides;
      return head;
    }
  return std::nullopt;
}

LogicalResult AttentionTiles::checkOutputs() {
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
    if (!outputsFound[i])
      return e.kernel.emitError("result ")
             << i << " of this attention kernel is no layout of one of attention's";
  return success();
}

Buffer AttentionTiles::scratch(int64_t count) {
  Buffer buffer{e.pointerAt(e.scratch, scratchBytes), e.builder.getF32Type(), -1};
  scratchBytes += llvm::alignTo(count * storedBytes(buffer.element), 64);
  e.plan.threadScratch = std::max(e.plan.threadScratch, scratchBytes);
  return buffer;
}

void AttentionTiles::forEachHead(double time, ArrayRef<HeadView *> views,
                                 llvm::function_ref<void()> allocate,
                                 llvm::function_ref<void()> body) {
  int64_t count = batch * heads;
  int64_t grain = std::clamp<int64_t>(int64_t(taskTime / (time / double(count))), 1, count);
  e.open("", llvm::divideCeil(count, grain));
  Type f32 = e.builder.getF32Type();
  for (HeadView *view : views) {
    int operand = view->buffer.input;
    view->buffer =
        operand >= 0 ? Buffer{e.inputPointer(operand), f32, operand} : e.result(-1 - operand);
    view->buffer.element = cast<RankedTensorType>((operand >= 0 ? e.kernel.getOperand(operand)
                                                                : e.kernel.getResult(-1 - operand))
                                                      .getType())
                               .getElementType();
  }
  allocate();
  auto [begin, end] = e.range(e.lo, e.hi, grain, count);
  scf::ForOp headLoop = e.loop(begin, end);
  Value head = headLoop.getInductionVar();
  Value b = arith::DivUIOp::create(e.builder, e.loc, head, index(heads));
  Value h = arith::RemUIOp::create(e.builder, e.loc, head, index(heads));
  for (HeadView *view : views)
    view->origin = add(add(mul(b, view->strides[0]), mul(h, view->strides[1])), view->offset);
  body();
  e.done(headLoop);
  e.close();
}

Value AttentionTiles::add(Value a, Value b) {
  return e.builder.createOrFold<arith::AddIOp>(e.loc, a, b);
}
Value AttentionTiles::mul(Value a, int64_t b) {
  return b == 1 ? a : e.builder.createOrFold<arith::MulIOp>(e.loc, a, index(b));
}
Value AttentionTiles::min(Value a, int64_t b) {
  return e.builder.createOrFold<arith::MinSIOp>(e.loc, a, index(b));
}

Value AttentionTiles::position(const HeadView &view, Value row, Value column) {
  Value at = add(view.origin, mul(row, view.strides[2]));
  return column ? add(at, mul(column, view.strides[3])) : at;
}

Value AttentionTiles::constant(double value) {
  return arith::ConstantOp::create(e.builder, e.loc, e.builder.getF32FloatAttr(float(value)));
}
Value AttentionTiles::splat(Value scalar) {
  return vector::BroadcastOp::create(e.builder, e.loc, VectorType::get({lanes}, scalar.getType()),
                                     scalar);
}

/// `element`, or as many as `like` has lanes.
static Type typeLike(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

Value AttentionTiles::widened(Value bits, Type element) {
  if (element.isF32())
    return bits;
  Value low = arith::BitcastOp::create(e.builder, e.loc, typeLike(bits.getType(), element), bits);
  return arith::ExtFOp::create(e.builder, e.loc, typeLike(bits.getType(), e.builder.getF32Type()),
                               low);
}
Value AttentionTiles::narrowed(Value real, Type element) {
  if (element.isF32())
    return real;
  Value low = arith::TruncFOp::create(e.builder, e.loc, typeLike(real.getType(), element), real);
  return arith::BitcastOp::create(e.builder, e.loc, typeLike(real.getType(), scalarType(element)),
                                  low);
}

static Value addressOf(Emission &e, const Buffer &buffer, Value position) {
  Value offset = arith::IndexCastOp::create(e.builder, e.loc, e.builder.getI64Type(), position);
  return LLVM::GEPOp::create(e.builder, e.loc, buffer.pointer.getType(), buffer.element,
                             buffer.pointer, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value AttentionTiles::loadVector(const Buffer &buffer, Value position) {
  Buffer bits = bitsOf(buffer);
  return widened(LLVM::LoadOp::create(e.builder, e.loc, VectorType::get({lanes}, bits.element),
                                      addressOf(e, bits, position), storedBytes(bits.element)),
                 buffer.element);
}
void AttentionTiles::storeVector(const Buffer &buffer, Value position, Value vector) {
  Buffer bits = bitsOf(buffer);
  LLVM::StoreOp::create(e.builder, e.loc, narrowed(vector, buffer.element),
                        addressOf(e, bits, position), storedBytes(bits.element));
}
Value AttentionTiles::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(e.builder, e.loc, a, b, c);
}
Value AttentionTiles::addf(Value a, Value b) {
  return arith::AddFOp::create(e.builder, e.loc, a, b);
}
Value AttentionTiles::subf(Value a, Value b) {
  return arith::SubFOp::create(e.builder, e.loc, a, b);
}
Value AttentionTiles::mulf(Value a, Value b) {
  return arith::MulFOp::create(e.builder, e.loc, a, b);
}
Value AttentionTiles::exp(Value a) { return math::ExpOp::create(e.builder, e.loc, a); }
Value AttentionTiles::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(e.builder, e.loc, condition, a, b);
}

Value AttentionTiles::lanesUpTo(Value first, Value last) {
  // In 32 bits: the comparison then takes one instruction a vector.
  auto i32 = e.builder.getI32Type();
  auto type = VectorType::get({lanes}, i32);
  Value step =
      vector::StepOp::create(e.builder, e.loc, VectorType::get({lanes}, e.builder.getIndexType()));
  step = arith::IndexCastOp::create(e.builder, e.loc, type, step);
  Value left = arith::SubIOp::create(e.builder, e.loc, last, first);
  left = arith::IndexCastOp::create(e.builder, e.loc, i32, left);
  return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::sle, step, splat(left));
}

AttentionTiles::Values AttentionTiles::loop(Value low, Value high, int64_t step, ValueRange initial,
                                            Body body) {
  auto loop = scf::ForOp::create(e.builder, e.loc, low, high, index(step), initial);
  if (initial.empty())
    loop.getBody()->getTerminator()->erase();
  e.builder.setInsertionPointToEnd(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  e.done(loop, next);
  return Values(loop.getResults());
}

void AttentionTiles::packRow(const HeadView &view, Value row, const Buffer &packed,
                             Value packedRow) {
  auto copy = [&](int64_t low, int64_t high, bool zero) {
    if (low == high)
      return;
    scf::ForOp columns = e.loop(index(low), index(high));
    columns->setAttr(lanesName, e.builder.getUnitAttr());
    Value column = columns.getInductionVar();
    Value value = zero ? constant(0) : load(view.buffer, position(view, row, column));
    store(packed, add(mul(packedRow, paddedWidth), column), value);
    e.done(columns);
  };
  copy(0, width, false);
  copy(width, paddedWidth, true);
}

void AttentionTiles::packRows(const HeadView &view, int64_t rows, const Buffer &packed) {
  loop(0, rows, 1, {}, [&](Value row, ValueRange) -> Values {
    packRow(view, row, packed, row);
    return {};
  });
}

/// The transpose of `lanes` vectors: blocks of half the lanes change places, then of a quarter, and
/// so on.
static void transpose(Emission &e, SmallVectorImpl<Value> &rows) {
  int64_t lanes = rows.size();
  for (int64_t block = lanes / 2; block > 0; block /= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & block)
        continue;
      SmallVector<int64_t> low, high;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        low.push_back(lane & block ? lanes + lane - block : lane);
        high.push_back(lane & block ? lanes + lane : lane + block);
      }
      Value a = rows[i], b = rows[i + block];
      rows[i] = vector::ShuffleOp::create(e.builder, e.loc, a, b, low);
      rows[i + block] = vector::ShuffleOp::create(e.builder, e.loc, a, b, high);
    }
}

void AttentionTiles::packTransposed(const HeadView &view, const Buffer &packed) {
  if (view.strides[3] != 1) {
    loop(0, width, 1, {}, [&](Value column, ValueRange) -> Values {
      scf::ForOp rows = e.loop(index(0), index(paddedKeys));
      Value row = rows.getInductionVar();
      store(packed, add(mul(column, paddedKeys), row),
            load(view.buffer, position(view, min(row, keys - 1), column)));
      e.done(rows);
      return {};
    });
    return;
  }
  // Keys past the end repeat the last one: finite, and masked wherever they are used.
  loop(0, paddedKeys, lanes, {}, [&](Value row, ValueRange) -> Values {
    for (int64_t column = 0; column < width; column += lanes) {
      int64_t count = std::min(lanes, width - column);
      Values vectors;
      for (int64_t r = 0; r < lanes; ++r)
        vectors.push_back(loadColumns(view, min(add(row, r), keys - 1), column));
      transpose(e, vectors);
      for (int64_t c = 0; c < count; ++c)
        storeVector(packed, add(row, (column + c) * paddedKeys), vectors[c]);
    }
    return {};
  });
}

Value AttentionTiles::loadColumns(const HeadView &view, Value row, int64_t column) {
  Value at = position(view, row, index(column));
  if (column + lanes <= width)
    return loadVector(view.buffer, at);
  Buffer bits = bitsOf(view.buffer);
  auto type = VectorType::get({lanes}, bits.element);
  Value mask = vector::ConstantMaskOp::create(e.builder, e.loc,
                                              VectorType::get({lanes}, e.builder.getI1Type()),
                                              ArrayRef<int64_t>{width - column});
  Value zeros =
      arith::ConstantOp::create(e.builder, e.loc, cast<TypedAttr>(e.builder.getZeroAttr(type)));
  return widened(LLVM::MaskedLoadOp::create(e.builder, e.loc, type, addressOf(e, bits, at), mask,
                                            zeros, storedBytes(bits.element)),
                 view.buffer.element);
}

void AttentionTiles::unpackRows(const Buffer &packed, int64_t rows, const HeadView &view) {
  loop(0, rows, 1, {}, [&](Value row, ValueRange) -> Values {
    scf::ForOp columns = e.loop(index(0), index(width));
    columns->setAttr(lanesName, e.builder.getUnitAttr());
    Value column = columns.getInductionVar();
    store(view.buffer, position(view, row, column),
          load(packed, add(mul(row, paddedWidth), column)));
    e.done(columns);
    return {};
  });
}

void AttentionTiles::storeColumns(const HeadView &view, Value row, int64_t column, Value vector) {
  Value at = position(view, row, index(column));
  if (view.strides[3] == 1 && column + lanes <= width)
    return storeVector(view.buffer, at, vector);
  for (int64_t i = 0; i < lanes && column + i < width; ++i)
    store(view.buffer, add(at, i * view.strides[3]),
          vector::ExtractOp::create(e.builder, e.loc, vector, ArrayRef<int64_t>{i}));
}

AttentionTiles::Values AttentionTiles::tileProduct(const HeadView &view, ArrayRef<Value> rows,
                                                   const Buffer &transposed, Value first) {
  Values origins;
  for (Value row : rows)
    origins.push_back(position(view, row, Value()));
  Values zeros(rows.size() * tileVectors, splat(constant(0)));
  return loop(0, width, 1, zeros, [&](Value column, ValueRange sums) {
    Values vectors, next;
    Value at = add(mul(column, paddedKeys), first);
    for (int64_t v = 0; v < tileVectors; ++v)
      vectors.push_back(loadVector(transposed, add(at, v * lanes)));
    for (auto [r, origin] : llvm::enumerate(origins)) {
      Value factor = splat(load(view.buffer, add(origin, mul(column, view.strides[3]))));
      for (int64_t v = 0; v < tileVectors; ++v)
        next.push_back(fma(factor, vectors[v], sums[r * tileVectors + v]));
    }
    return next;
  });
}

void AttentionTiles::forColumnBlocks(llvm::function_ref<void(int64_t, int64_t)> body) {
  int64_t block = std::min(paddedWidth, tileKeys);
  for (int64_t column = 0; column < paddedWidth; column += block)
    body(column, std::min(block, paddedWidth - column) / lanes);
}

AttentionTiles::Values AttentionTiles::addOuterProduct(ValueRange sums,
                                                       llvm::function_ref<Value(int64_t)> factorOf,
                                                       const Buffer &packed, Value at,
                                                       int64_t column, int64_t count) {
  Values vectors, next;
  for (int64_t v = 0; v < count; ++v)
    vectors.push_back(loadVector(packed, add(mul(at, paddedWidth), column + v * lanes)));
  for (int64_t r = 0; r < tileRows; ++r) {
    Value factor = splat(factorOf(r));
    for (int64_t v = 0; v < count; ++v)
      next.push_back(fma(factor, vectors[v], sums[r * count + v]));
  }
  return next;
}

AttentionTiles::Values AttentionTiles::rowsFrom(Value first, int64_t count) {
  Values rows;
  for (int64_t r = 0; r < count; ++r)
    rows.push_back(min(add(first, r), queries - 1));
  return rows;
}

Value AttentionTiles::lastKeyOf(Value query) {
  return causal ? add(query, keys - queries) : index(keys - 1);
}

Value AttentionTiles::endOfTiles(Value query) {
  if (!causal)
    return index(paddedKeys);
  Value tiles = arith::DivUIOp::create(e.builder, e.loc, lastKeyOf(query), index(tileKeys));
  return mul(add(tiles, 1), tileKeys);
}

} // namespace weir
