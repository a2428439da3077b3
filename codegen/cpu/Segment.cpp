//===- Segment.cpp - Kernels of segment sums ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every task goes over all indices, in their order, and adds what belongs to its own part of the
// result: a range of columns where there are enough of them, else a range of segments.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emission.h"
#include "ir/weir/indexing/Indexing.h"

using namespace mlir;

namespace weir {
namespace {

/// Columns of a task are a multiple of this.
constexpr int64_t segmentColumns = 64;

void emitOne(Emission &e, SegmentSumOp op, unsigned result, double time, StringRef suffix) {
  int64_t segments = shapeOf(op.getResult())[0];
  int64_t columns = tensorType(op.getResult()).getNumElements() / segments;
  int64_t items = tensorType(op.getIndices()).getNumElements();
  int64_t wanted = std::max<int64_t>(1, int64_t(time / taskTime));
  bool byColumns = columns >= 2 * segmentColumns;
  int64_t size = byColumns ? columns : segments;
  int64_t grain = llvm::divideCeil(size, std::min(wanted, size));
  if (byColumns)
    grain = llvm::alignTo(grain, segmentColumns);
  e.open(suffix, llvm::divideCeil(size, grain));
  auto [begin, end] = e.range(e.lo, e.hi, grain, size);
  Value zero = e.index(0);
  Value firstSegment = byColumns ? zero : begin, endSegment = byColumns ? e.index(segments) : end;
  Value firstColumn = byColumns ? begin : zero, endColumn = byColumns ? end : e.index(columns);
  Buffer sum = e.result(result);

  scf::ForOp segmentLoop = e.loop(firstSegment, endSegment);
  scf::ForOp fill = e.loop(firstColumn, endColumn);
  fill->setAttr(lanesName, e.builder.getUnitAttr());
  AffineExpr segment = e.space->declare(segmentLoop.getInductionVar(), segments);
  AffineExpr position = segment * columns + e.space->declare(fill.getInductionVar(), columns);
  storeElement(e.builder, e.loc, sum, e.space->materialize(e.builder, e.loc, position),
               neutralOf(e.builder, e.loc, Reduction::sum, sum.element));
  e.done(fill);
  e.done(segmentLoop);

  scf::ForOp itemLoop = e.loop(zero, e.index(items));
  AffineExpr item = e.space->declare(itemLoop.getInductionVar(), items);
  Value index = e.elements->at(op.getIndices(), item);
  index = arith::IndexCastOp::create(e.builder, e.loc, e.builder.getIndexType(), index);
  // Indices outside are nobody's.
  auto within = [&](Value low, Value high) {
    Value least = arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::sge, index, low);
    Value most = arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::slt, index, high);
    return arith::AndIOp::create(e.builder, e.loc, least, most);
  };
  auto mine = scf::IfOp::create(e.builder, e.loc, within(firstSegment, endSegment),
                                /*withElseRegion=*/false);
  e.builder.setInsertionPointToStart(mine.thenBlock());
  scf::ForOp columnLoop = e.loop(firstColumn, endColumn);
  columnLoop->setAttr(lanesName, e.builder.getUnitAttr());
  AffineExpr column = e.space->declare(columnLoop.getInductionVar(), columns);
  Value at = e.space->materialize(e.builder, e.loc, e.space->exprOf(index) * columns + column);
  Value term = e.elements->at(op.getInput(), item * columns + column);
  Value old = loadElement(e.builder, e.loc, sum, at);
  storeElement(e.builder, e.loc, sum, at, arith::AddFOp::create(e.builder, e.loc, old, term));
  e.done(columnLoop);
  e.builder.setInsertionPointAfter(mine);
  e.done(itemLoop);
}

} // namespace

LogicalResult emitSegment(Emission &e) {
  unsigned results = e.kernel.getNumResults();
  double time = estimatedTime(e.kernel) / results;
  for (unsigned i = 0; i < results; ++i) {
    auto op = e.yielded(i).getDefiningOp<SegmentSumOp>();
    if (!op)
      return e.kernel.emitError("the results of a segment kernel must be segment sums");
    emitOne(e, op, i, time, results == 1 ? "" : "_" + std::to_string(i));
    bool failed = e.elements->failed();
    e.close();
    if (failed)
      return failure();
  }
  return success();
}

} // namespace weir
