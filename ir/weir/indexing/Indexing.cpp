//===- Indexing.cpp - What is known of gather and segment_sum ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Elements.h"
#include "ir/weir/GradientFormula.h"
#include "ir/weir/Rules.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weir {

using Indices = SmallVector<Value>;

void GatherOp::build(OpBuilder &builder, OperationState &state, Value table, Value indices) {
  Shape shape(shapeOf(indices));
  auto row = shapeOf(table).drop_front();
  shape.append(row.begin(), row.end());
  build(builder, state, typeLike(table, shape), table, indices);
}

// C1 of gather and segment_sum: rows of `table`, one for each of `indices`.
static LogicalResult verifyRows(Operation *op, StringRef what, Value rows, Value table,
                                Value indices) {
  if (shapeOf(table).empty())
    return op->emitOpError("needs rows, but has a scalar");
  Shape expected(shapeOf(indices));
  auto row = shapeOf(table).drop_front();
  expected.append(row.begin(), row.end());
  if (failed(expectSameElements(op, rows, table)))
    return failure();
  return expectShape(op, what, rows, expected);
}

LogicalResult GatherOp::verify() {
  // C1
  if (shapeOf(getTable()).size() > 0 && shapeOf(getTable())[0] == 0)
    return emitOpError("needs a table with at least one row");
  return verifyRows(*this, "the result", getResult(), getTable(), getIndices());
}

LogicalResult SegmentSumOp::verify() {
  // C1
  return verifyRows(*this, "the input", getInput(), getResult(), getIndices());
}

OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  // Rows outside the table are zero, whatever it is filled with.
  Attribute table = adaptor.getTable();
  return table && (matchPattern(table, m_AnyZeroFloat()) || matchPattern(table, m_Zero()))
             ? table
             : nullptr;
}

CastRule GatherOp::castRule() { return floats(*this); }
CastRule SegmentSumOp::castRule() { return floatsBut(*this, true, {}, {0}); }

Cost GatherOp::cost() {
  Cost cost = copyCost(getResult());
  cost.bytes += storageBytes(getIndices().getType());
  return cost;
}
Cost SegmentSumOp::cost() { return costOf(*this, elements(getInput())); }

ShardRule GatherOp::shardRule() {
  Rule rule;
  unsigned rows = rule.factor(shapeOf(getTable())[0], Kind::whole);
  Factors row = rule.factors(shapeOf(getTable()).drop_front()),
          indices = rule.factors(shapeOf(getIndices()));
  return rule.operand(joined(rows, row)).operand(indices).result(joined(indices, row)).rule;
}

ShardRule SegmentSumOp::shardRule() {
  Rule rule;
  Factors indices = rule.factors(shapeOf(getIndices()), Kind::sum);
  unsigned segments = rule.factor(shapeOf(getResult())[0], Kind::whole);
  Factors row = rule.factors(shapeOf(getResult()).drop_front());
  return rule.operand(joined(indices, row)).operand(indices).result(joined(segments, row)).rule;
}

LogicalResult GatherOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<SegmentSumOp>(getTable().getType(), cotangents[0], getIndices(), TypeAttr()),
       Value()});
  return success();
}

LogicalResult SegmentSumOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<GatherOp>(getInput().getType(), cotangents[0], getIndices()), Value()});
  return success();
}

Value GatherOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  int64_t rank = tensorType(getIndices()).getRank();
  return s.readInside(operand(1, indices.take_front(rank)), shapeOf(getTable())[0], [&](Value row) {
    Indices source{row};
    llvm::append_range(source, indices.drop_front(rank));
    return operand(0, source);
  });
}

Value SegmentSumOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Value segment = arith::IndexCastOp::create(builder, getLoc(), builder.getI32Type(), indices[0]);
  auto row = indices.drop_front();
  return s.loops(shapeOf(getIndices()), s.f32(0),
                 [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
                   Value mine = s.compare(arith::CmpIPredicate::eq, operand(1, at), segment);
                   Indices source(at);
                   llvm::append_range(source, row);
                   return {s.select(mine, s.addf(carried[0], operand(0, source)), carried[0])};
                 })[0];
}

} // namespace weir
