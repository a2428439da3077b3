//===- Segment.cpp - Kernels of segment sums ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread adds up one element of the result: it goes over all indices, in their order.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emission.h"

using namespace mlir;

namespace weir::gpu {

LogicalResult emitSegment(Emission &e) {
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i) {
    auto op = e.yielded(i).getDefiningOp<SegmentSumOp>();
    if (!op)
      return e.kernel.emitError("the results of a segment kernel must be segment sums");
    int64_t elements = tensorType(op.getResult()).getNumElements();
    int64_t segments = shapeOf(op.getResult())[0], columns = elements / segments;
    int64_t items = tensorType(op.getIndices()).getNumElements();
    e.open(e.kernel.getNumResults() == 1 ? "" : "_" + std::to_string(i),
           llvm::divideCeil(elements, blockThreads), blockThreads);
    Value at = arith::AddIOp::create(
        e.builder, e.loc, arith::MulIOp::create(e.builder, e.loc, e.block, e.index(blockThreads)),
        e.thread);
    e.when(e.below(at, elements), [&] {
      AffineExpr position = e.space->declare(at, elements);
      AffineExpr column = e.space->simplify(position % columns);
      Value segment =
          e.space->materialize(e.builder, e.loc, e.space->simplify(position.floorDiv(columns)));
      segment = arith::IndexCastOp::create(e.builder, e.loc, e.builder.getI32Type(), segment);
      Value zero =
          neutralOf(e.builder, e.loc, Reduction::sum, tensorType(op.getResult()).getElementType());
      scf::ForOp loop = e.loop(items, zero);
      AffineExpr item = e.space->exprOf(loop.getInductionVar());
      Value index = e.elements->at(op.getIndices(), item);
      Value mine =
          arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::eq, index, segment);
      Value sum = loop.getRegionIterArg(0);
      auto choice = scf::IfOp::create(e.builder, e.loc, sum.getType(), mine, true);
      {
        OpBuilder::InsertionGuard guard(e.builder);
        e.builder.setInsertionPointToStart(choice.thenBlock());
        Value term = e.elements->at(op.getInput(), item * columns + column);
        scf::YieldOp::create(e.builder, e.loc,
                             combine(e.builder, e.loc, Reduction::sum, sum, term));
        e.builder.setInsertionPointToStart(choice.elseBlock());
        scf::YieldOp::create(e.builder, e.loc, sum);
      }
      e.done(loop, choice.getResult(0));
      e.storeResult(i, position, loop.getResult(0));
    });
    bool failed = e.elements->failed();
    e.close();
    if (failed)
      return failure();
  }
  return success();
}

} // namespace weir::gpu
