//===- Pool.cpp - Pools whose windows lie side by side --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector code by hand: a task is some rows of windows. The elements of some windows of a row are
// read side by side and parted into one vector per tap; a gradient is put together the other way
// round, each element written once. The last windows of a row may be worked on twice, which changes
// nothing: results are not read.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emission.h"
#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace weir {
namespace {

/// Each tap takes a register.
constexpr int64_t largestWindow = 9;

class PoolEmitter {
public:
  PoolEmitter(Emission &e, unsigned result, ArrayRef<int64_t> window)
      : e(e), b(e.builder), loc(e.loc), op(e.yielded(result).getDefiningOp()), result(result),
        tapRows(window[0]), tapColumns(window[1]) {
    ArrayRef<int64_t> input = shapeOf(op->getOperand(0));
    height = input[input.size() - 2];
    width = input.back();
    rows = height / tapRows;
    columns = width / tapColumns;
    planes =
        height * width == 0 ? 0 : tensorType(op->getOperand(0)).getNumElements() / (height * width);
    for (lanes = lanesOf(e.processor, Element::f32); lanes > columns && lanes > 1;)
      lanes /= 2;
  }

  bool fits() const {
    return tapRows * tapColumns <= largestWindow && planes * rows * columns > 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isa<BlockArgument>(operand) && tensorType(operand).getElementType().isF32();
           });
  }

  void run(StringRef suffix, double time) {
    isGradient = isa<MaxPoolGradOp>(op);
    int64_t total = planes * rows;
    int64_t grain = std::clamp<int64_t>(int64_t(taskTime / time * double(total)), 1, total);
    e.open(suffix, llvm::divideCeil(total, grain));
    // For other results' places: these are read at any position.
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      e.elements->loads.push_back({int(numberOf(i)), e.space->constant(-1), e.elements->phase});
    input = e.inputPointer(numberOf(0));
    cotangent = isGradient ? e.inputPointer(numberOf(1)) : Value();
    output = e.result(result).pointer;
    auto [begin, end] = e.range(e.lo, e.hi, grain, total);
    scf::ForOp loop = e.loop(begin, end);
    row = loop.getInductionVar();
    Value plane = arith::DivUIOp::create(b, loc, row, e.index(rows));
    rowInPlane = arith::RemUIOp::create(b, loc, row, e.index(rows));
    planeOrigin = mul(plane, height * width);
    inputOrigin = add(planeOrigin, mul(rowInPlane, tapRows * width));
    outputOrigin = mul(row, columns);
    scf::ForOp windowLoop = e.loop(e.index(0), e.index(columns / lanes));
    windows(mul(windowLoop.getInductionVar(), lanes));
    e.done(windowLoop);
    if (columns % lanes)
      windows(e.index(columns - lanes));
    if (isGradient)
      clearRest();
    e.done(loop);
    e.close();
  }

private:
  unsigned numberOf(unsigned operand) {
    return cast<BlockArgument>(op->getOperand(operand)).getArgNumber();
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, int64_t y) { return y ? add(x, e.index(y)) : x; }
  Value mul(Value x, int64_t y) { return arith::MulIOp::create(b, loc, x, e.index(y)); }

  Value addressOf(Value base, Value position) {
    Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getF32Type(), base,
                               ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
  }
  Value load(Value base, Value position, int64_t count) {
    return LLVM::LoadOp::create(b, loc, VectorType::get({count}, b.getF32Type()),
                                addressOf(base, position), 4);
  }
  void store(Value base, Value position, Value vector) {
    LLVM::StoreOp::create(b, loc, vector, addressOf(base, position), 4);
  }
  Value splat(double value) {
    auto type = VectorType::get({lanes}, b.getF32Type());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, float(value)));
  }
  Value splat(int32_t value) {
    auto type = VectorType::get({lanes}, b.getI32Type());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
  }

  /// Vectors of one row of taps, window by window, from one vector per tap.
  Value interleave(ArrayRef<Value> taps) {
    if (taps.size() == 1)
      return taps[0];
    Value all = taps[0];
    for (int64_t i = 1; i < tapColumns; ++i) {
      // Vectors of one length: the tap is padded with lanes nobody reads.
      Value next = taps[i];
      if (i > 1) {
        SmallVector<int64_t> padded(i * lanes, 0);
        std::iota(padded.begin(), padded.begin() + lanes, 0);
        next = vector::ShuffleOp::create(b, loc, next, next, padded);
      }
      SmallVector<int64_t> both((i + 1) * lanes);
      std::iota(both.begin(), both.end(), 0);
      all = vector::ShuffleOp::create(b, loc, all, next, both);
    }
    SmallVector<int64_t> order;
    for (int64_t k = 0; k < lanes; ++k)
      for (int64_t c = 0; c < tapColumns; ++c)
        order.push_back(c * lanes + k);
    return vector::ShuffleOp::create(b, loc, all, all, order);
  }

  /// The windows of the row from `first` on, one per lane.
  void windows(Value first) {
    Value inRow = add(inputOrigin, mul(first, tapColumns));
    SmallVector<Value> taps;
    for (int64_t r = 0; r < tapRows; ++r) {
      Value side = load(input, add(inRow, r * width), tapColumns * lanes);
      for (int64_t c = 0; c < tapColumns; ++c) {
        SmallVector<int64_t> picks;
        for (int64_t k = 0; k < lanes; ++k)
          picks.push_back(k * tapColumns + c);
        taps.push_back(vector::ShuffleOp::create(b, loc, side, side, picks));
      }
    }
    Value outPosition = add(outputOrigin, first);
    if (!isGradient) {
      Value largest = taps[0];
      for (Value tap : ArrayRef<Value>(taps).drop_front())
        largest = arith::MaximumFOp::create(b, loc, largest, tap);
      store(output, outPosition, largest);
      return;
    }
    // The tap of each window's first largest element.
    Value largest = taps[0], best = splat(int32_t(0));
    for (auto [i, tap] : llvm::drop_begin(llvm::enumerate(taps))) {
      Value larger = Scalars(b, loc).larger(tap, largest);
      largest = arith::SelectOp::create(b, loc, larger, tap, largest);
      best = arith::SelectOp::create(b, loc, larger, splat(int32_t(i)), best);
    }
    Value gradient = load(cotangent, outPosition, lanes), zero = splat(0.0);
    for (int64_t r = 0; r < tapRows; ++r) {
      SmallVector<Value> parts;
      for (int64_t c = 0; c < tapColumns; ++c) {
        Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, best,
                                           splat(int32_t(r * tapColumns + c)));
        parts.push_back(arith::SelectOp::create(b, loc, mine, gradient, zero));
      }
      store(output, add(inRow, r * width), interleave(parts));
    }
  }

  void clear(Value from, int64_t count) {
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    scf::ForOp loop = e.loop(e.index(0), e.index(count));
    loop->setAttr(lanesName, b.getUnitAttr());
    LLVM::StoreOp::create(b, loc, zero, addressOf(output, add(from, loop.getInductionVar())), 4);
    e.done(loop);
  }

  /// What lies in no window.
  void clearRest() {
    if (int64_t rest = width - columns * tapColumns)
      for (int64_t r = 0; r < tapRows; ++r)
        clear(add(inputOrigin, r * width + columns * tapColumns), rest);
    int64_t restRows = height - rows * tapRows;
    if (!restRows)
      return;
    Value last =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rowInPlane, e.index(rows - 1));
    auto branch = scf::IfOp::create(b, loc, last, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    Value from = add(planeOrigin, rows * tapRows * width);
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    auto loop = scf::ForOp::create(b, loc, e.index(0), e.index(restRows * width), e.index(1));
    loop->setAttr(lanesName, b.getUnitAttr());
    b.setInsertionPointToStart(loop.getBody());
    LLVM::StoreOp::create(b, loc, zero, addressOf(output, add(from, loop.getInductionVar())), 4);
  }

  Emission &e;
  OpBuilder &b;
  Location loc;
  Operation *op;
  unsigned result;
  int64_t tapRows, tapColumns;
  int64_t planes, height, width; ///< of the pool's input
  int64_t rows, columns;         ///< of windows
  int64_t lanes;
  bool isGradient = false;
  Value input, cotangent, output;
  Value row, rowInPlane, planeOrigin, inputOrigin, outputOrigin;
};

} // namespace

bool emitPool(Emission &emission, unsigned result, StringRef suffix, double time) {
  Operation *op = emission.yielded(result).getDefiningOp();
  ArrayRef<int64_t> window, strides;
  if (auto pool = dyn_cast_or_null<MaxPoolOp>(op)) {
    window = pool.getWindow();
    strides = pool.getStrides();
  } else if (auto gradient = dyn_cast_or_null<MaxPoolGradOp>(op)) {
    window = gradient.getWindow();
    strides = gradient.getStrides();
  } else {
    return false;
  }
  if (window != strides)
    return false;
  PoolEmitter emitter(emission, result, window);
  if (!emitter.fits())
    return false;
  emitter.run(suffix, time);
  return true;
}

} // namespace weir
