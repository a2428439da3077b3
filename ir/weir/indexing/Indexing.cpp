//===- Indexing.cpp - What is known of gather and segment_sum ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/interfaces/GradientFormula.h"
#include "ir/weir/interfaces/Rules.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weir {

using Indices = SmallVector<Value>;

static LogicalResult expectRows(Operation *op, Value table) {
  if (shapeOf(table).empty())
    return op->emitOpError("needs rows, but has a scalar");
  return success();
}

/// Rows of low precision stay that: they are moved.
LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         ValueRange operands, DictionaryAttr, OpaqueProperties,
                                         RegionRange, SmallVectorImpl<Type> &types) {
  if (failed(inferByFactors(factors(), operands, types)))
    return failure();
  types.back() = cast<ShapedType>(types.back()).clone(tensorType(operands[0]).getElementType());
  return success();
}

LogicalResult GatherOp::verify() {
  // C1
  if (failed(expectRows(*this, getTable())))
    return failure();
  if (shapeOf(getTable())[0] == 0)
    return emitOpError("needs a table with at least one row");
  if (failed(expectSameElements(*this, getResult(), getTable())))
    return failure();
  return expectFactors(*this, factors());
}

LogicalResult SegmentSumOp::verify() {
  // C1
  return success(succeeded(expectRows(*this, getResult())) &&
                 succeeded(expectFactors(*this, factors())));
}

// Of what other ranks have, an index is outside the table, and of no segment.
Operation *GatherOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types,
                              Shares &shares) {
  return localizeCounted(builder, *this, operands, types, shares, 1);
}

Operation *SegmentSumOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types,
                                  Shares &shares) {
  return localizeCounted(builder, *this, operands, types, shares, 1);
}

OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  // Rows outside the table are zero, whatever it is filled with.
  Attribute table = adaptor.getTable();
  return table && (matchPattern(table, m_AnyZeroFloat()) || matchPattern(table, m_Zero()))
             ? table
             : nullptr;
}

Picks GatherOp::picks() { return {getIndices(), shapeOf(getTable())[0]}; }

Cost GatherOp::cost() {
  Cost cost = copyCost(getResult());
  cost.bytes += storageBytes(getIndices().getType());
  return cost;
}

LogicalResult GatherOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign(
      {t.build<SegmentSumOp>(cotangentType(getTable()), cotangents[0], getIndices(), TypeAttr()),
       Value()});
  return success();
}

LogicalResult SegmentSumOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  operandCotangents.assign({t.build<GatherOp>(cotangents[0], getIndices()), Value()});
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
