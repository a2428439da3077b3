//===- Segment.cpp - Kernels of segment sums ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has a few segments side by side, and columns of them. Window by window of the indices its
// threads look together for the items of its segments (device/weir_segment.h); then each adds up
// columns of its own, in the items' order. Between windows, sums are in the result.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emission.h"
#include "ir/weir/indexing/Indexing.h"

using namespace mlir;

namespace weir::gpu {
namespace {

/// Of a block, at most: it looks at every index once for all of them.
constexpr int64_t mostSegments = 8;

/// Indices that a block looks at before it adds up what it found, at most: 16 KiB of shared memory.
constexpr int64_t mostOfWindow = 4096;

class SegmentEmitter {
public:
  SegmentEmitter(Emission &emission, unsigned result, SegmentSumOp op)
      : e(emission), b(emission.builder), result(result), op(op) {}

  LogicalResult run();

private:
  Value call(StringRef name, Type type, ValueRange operands);
  Value add(Value a, Value c) { return arith::AddIOp::create(b, e.loc, a, c); }
  Value times(Value a, int64_t c) { return arith::MulIOp::create(b, e.loc, a, e.index(c)); }
  void look(Value begin, Value first, bool note);
  void addUp(Value isFirst, Value first, Value columnGroup);

  Emission &e;
  OpBuilder &b;
  unsigned result;
  SegmentSumOp op;
  int64_t segments = 1, columns = 1, items = 1;
  int64_t ofBlock = 1, columnGroups = 1, window = blockThreads;
};

/// A function of the device header; null where it gives nothing.
Value SegmentEmitter::call(StringRef function, Type type, ValueRange operands) {
  std::string name = ("weir_segment_" + function + "<" + Twine(blockThreads) + ", " +
                      Twine(ofBlock) + ", " + Twine(window) + ">")
                         .str();
  TypeRange results = type ? TypeRange(type) : TypeRange();
  auto module = b.getInsertionBlock()->getParent()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    func::FuncOp::create(b, e.loc, name, b.getFunctionType(operands.getTypes(), results))
        .setPrivate();
  }
  auto made = func::CallOp::create(b, e.loc, name, results, operands);
  return type ? made.getResult(0) : Value();
}

/// Every warp over its part of the window.
void SegmentEmitter::look(Value begin, Value first, bool note) {
  int64_t ofWarp = window / (blockThreads / 32);
  Value warp = arith::DivUIOp::create(b, e.loc, e.thread, e.index(32));
  Value lane = arith::RemUIOp::create(b, e.loc, e.thread, e.index(32));
  Value low = add(begin, times(warp, ofWarp));
  scf::ForOp loop = e.loop(ofWarp / 32);
  Value at = add(add(low, times(loop.getInductionVar(), 32)), lane);
  Value isThere = e.below(at, items);
  Value item = arith::MinSIOp::create(b, e.loc, at, e.index(items - 1));
  Value index = e.elements->at(op.getIndices(), e.space->declare(item, items));
  Value segment = arith::SubIOp::create(
      b, e.loc, index, arith::IndexCastOp::create(b, e.loc, b.getI32Type(), first));
  Value none = arith::ConstantIntOp::create(b, e.loc, b.getI32Type(), -1);
  segment = arith::SelectOp::create(b, e.loc, isThere, segment, none);
  if (note)
    call("note", {}, {segment, arith::IndexCastOp::create(b, e.loc, b.getI32Type(), item)});
  else
    call("count", {}, segment);
  e.done(loop);
}

/// Every thread for its columns of the segments, as the list has their items.
void SegmentEmitter::addUp(Value isFirst, Value first, Value columnGroup) {
  Type element = tensorType(op.getResult()).getElementType();
  Value low = add(times(columnGroup, blockThreads), e.thread);
  scf::ForOp ofColumn = e.loop(low, e.index(columns), e.index(blockThreads * columnGroups));
  AffineExpr column = e.space->declare(ofColumn.getInductionVar(), columns);
  Value none = arith::ConstantIntOp::create(b, e.loc, b.getI32Type(), 0);
  scf::ForOp ofSegment = e.loop(e.index(0), e.index(ofBlock), e.index(1), none);
  Value segment = add(first, ofSegment.getInductionVar());
  Value from = ofSegment.getRegionIterArg(0);
  Value to = call("end", b.getI32Type(),
                  arith::IndexCastOp::create(b, e.loc, b.getI32Type(), ofSegment.getInductionVar())
                      .getResult());
  Value some = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::slt, from, to);
  Value isOwn = arith::AndIOp::create(b, e.loc, e.below(segment, segments),
                                      arith::OrIOp::create(b, e.loc, isFirst, some));
  e.when(isOwn, [&] {
    AffineExpr position = e.space->declare(segment, segments) * columns + column;
    Value place = e.space->materialize(b, e.loc, e.space->simplify(position));
    Value zero = neutralOf(b, e.loc, Reduction::sum, element);
    auto before = scf::IfOp::create(b, e.loc, zero.getType(), isFirst, true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(before.thenBlock());
      scf::YieldOp::create(b, e.loc, zero);
      b.setInsertionPointToStart(before.elseBlock());
      scf::YieldOp::create(b, e.loc, loadElement(b, e.loc, e.result(result), place));
    }
    auto position32 = [&](Value value) {
      return arith::IndexCastOp::create(b, e.loc, b.getIndexType(), value);
    };
    scf::ForOp loop = e.loop(position32(from), position32(to), e.index(1), before.getResult(0));
    Value number = arith::IndexCastOp::create(b, e.loc, b.getI32Type(), loop.getInductionVar());
    AffineExpr item = e.space->declare(position32(call("item", b.getI32Type(), number)), items);
    Value term = e.elements->at(op.getInput(), item * columns + column);
    e.done(loop, combine(b, e.loc, Reduction::sum, loop.getRegionIterArg(0), term));
    storeElement(b, e.loc, e.result(result), place, loop.getResult(0));
  });
  e.done(ofSegment, to);
  e.done(ofColumn);
}

LogicalResult SegmentEmitter::run() {
  segments = shapeOf(op.getResult())[0];
  columns = tensorType(op.getResult()).getNumElements() / segments;
  items = tensorType(op.getIndices()).getNumElements();
  int64_t wanted = 4 * e.architecture.multiprocessors;
  ofBlock = std::clamp<int64_t>(segments / wanted, 1, mostSegments);
  int64_t groups = llvm::divideCeil(segments, ofBlock);
  columnGroups = std::clamp<int64_t>(wanted / groups, 1, llvm::divideCeil(columns, blockThreads));
  window = std::min<int64_t>(mostOfWindow, llvm::alignTo(items, blockThreads));

  e.open(e.kernel.getNumResults() == 1 ? "" : "_" + std::to_string(result), groups * columnGroups,
         blockThreads);
  e.plan.launches.back().shared = 4 * (window + ofBlock * (blockThreads / 32) + 1);
  Value group = arith::DivUIOp::create(b, e.loc, e.block, e.index(columnGroups));
  Value columnGroup = arith::RemUIOp::create(b, e.loc, e.block, e.index(columnGroups));
  Value first = times(group, ofBlock);
  scf::ForOp windows = e.loop(e.index(0), e.index(items), e.index(window));
  Value begin = windows.getInductionVar();
  call("clear", {}, {});
  look(begin, first, /*note=*/false);
  Value found = call("total", b.getI32Type(), {});
  Value none = arith::ConstantIntOp::create(b, e.loc, b.getI32Type(), 0);
  Value some = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ne, found, none);
  Value isFirst = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::eq, begin, e.index(0));
  e.when(arith::OrIOp::create(b, e.loc, isFirst, some), [&] {
    look(begin, first, /*note=*/true);
    call("noted", {}, {});
    addUp(isFirst, first, columnGroup);
  });
  e.done(windows);
  bool failed = e.elements->failed();
  e.close();
  return failure(failed);
}

} // namespace

LogicalResult emitSegment(Emission &e) {
  e.text.headers.push_back("weir_segment.h");
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i) {
    auto op = e.yielded(i).getDefiningOp<SegmentSumOp>();
    if (!op)
      return e.kernel.emitError("the results of a segment kernel must be segment sums");
    if (failed(SegmentEmitter(e, i, op).run()))
      return failure();
  }
  return success();
}

} // namespace weir::gpu
