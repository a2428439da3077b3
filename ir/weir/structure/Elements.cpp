//===- Elements.cpp - Scalars of constants and layout --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

using Indices = SmallVector<Value>;

Value ConstantOp::element(OpBuilder &builder, unsigned, ValueRange, ElementOf) {
  Type type = scalarType(getValue().getType());
  if (auto integer = dyn_cast<IntegerAttr>(getValue()))
    return arith::ConstantOp::create(builder, getLoc(), IntegerAttr::get(type, integer.getValue()));
  if (auto real = dyn_cast<FloatAttr>(getValue()); real && isa<IntegerType>(type))
    return arith::ConstantOp::create(builder, getLoc(),
                                     IntegerAttr::get(type, real.getValue().bitcastToAPInt()));
  return arith::ConstantOp::create(builder, getLoc(), getValue());
}

Value IotaOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf) {
  return arith::IndexCastOp::create(builder, getLoc(), builder.getI32Type(),
                                    indices[getDimension()]);
}

Value BroadcastOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Indices source;
  for (auto [size, dimension] : llvm::zip_equal(shapeOf(getInput()), getDimensions()))
    source.push_back(size == 1 ? s.index(0) : indices[dimension]);
  return operand(0, source);
}

Value TransposeOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Indices source(indices.size());
  for (auto [index, dimension] : llvm::zip_equal(indices, getPermutation()))
    source[dimension] = index;
  return operand(0, source);
}

Value SplitDimOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  int64_t first = getDimension(), count = getSizes().size();
  Indices source(indices.take_front(first));
  source.push_back(s.linear(indices.slice(first, count), getSizes()));
  llvm::append_range(source, indices.drop_front(first + count));
  return operand(0, source);
}

Value MergeDimsOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  int64_t first = getFirst();
  Indices source(indices.take_front(first));
  llvm::append_range(source,
                     s.delinear(indices[first], shapeOf(getInput()).slice(first, getCount())));
  llvm::append_range(source, indices.drop_front(first + 1));
  return operand(0, source);
}

Value SliceOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Indices source;
  for (auto [index, offset, stride] : llvm::zip_equal(indices, getOffsets(), getStrides()))
    source.push_back(offset == 0 ? s.mul(index, stride)
                                 : s.add(s.mul(index, stride), s.index(offset)));
  return operand(0, source);
}

Value PadOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Location loc = getLoc();
  auto input = shapeOf(getInput()), result = shapeOf(getResult());
  Value zero = s.constant(scalarType(tensorType(getInput()).getElementType()), 0);
  if (llvm::is_contained(input, 0))
    return zero;
  Value inside;
  auto require = [&](Value condition) {
    inside =
        inside ? arith::AndIOp::create(builder, loc, inside, condition).getResult() : condition;
  };
  SmallVector<Value> shifted;
  for (size_t i = 0; i < input.size(); ++i) {
    int64_t offset = getOffsets()[i], stride = getStrides()[i];
    shifted.push_back(offset == 0 ? indices[i] : s.sub(indices[i], s.index(offset)));
    if (input[i] == result[i])
      continue;
    // Unsigned: an index below the offset wraps round to a large number.
    require(s.compare(arith::CmpIPredicate::ult, shifted[i], s.index((input[i] - 1) * stride + 1)));
    if (stride > 1)
      require(s.compare(arith::CmpIPredicate::eq, s.rem(shifted[i], stride), s.index(0)));
  }
  auto read = [&] {
    Indices source;
    for (auto [index, stride] : llvm::zip_equal(shifted, getStrides()))
      source.push_back(s.div(index, stride));
    return operand(0, source);
  };
  if (!inside)
    return read();
  auto choice = scf::IfOp::create(builder, loc, TypeRange(zero.getType()), inside, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, zero);
  builder.setInsertionPointToStart(choice.thenBlock());
  Value element = read();
  scf::YieldOp::create(builder, loc, element);
  return choice.getResult(0);
}

// The element at `indices` of the inputs from `first` to before `end`, which begin at `offsets`.
// Halving them keeps a concat of many inputs shallow.
static Value concatenated(ConcatOp op, Scalars &s, ArrayRef<int64_t> offsets, unsigned first,
                          unsigned end, ValueRange indices, ElementOf operand) {
  int64_t dimension = op.getDimension();
  if (first + 1 == end) {
    Indices source(indices);
    if (offsets[first])
      source[dimension] = s.sub(indices[dimension], s.index(offsets[first]));
    return operand(first, source);
  }
  unsigned middle = (first + end) / 2;
  Value isBefore =
      s.compare(arith::CmpIPredicate::ult, indices[dimension], s.index(offsets[middle]));
  Type type = scalarType(tensorType(op.getResult()).getElementType());
  auto choice = scf::IfOp::create(s.builder, s.loc, TypeRange(type), isBefore, true);
  OpBuilder::InsertionGuard guard(s.builder);
  auto yield = [&](Block *block, unsigned from, unsigned to) {
    s.builder.setInsertionPointToStart(block);
    Value element = concatenated(op, s, offsets, from, to, indices, operand);
    scf::YieldOp::create(s.builder, s.loc, element);
  };
  yield(choice.thenBlock(), first, middle);
  yield(choice.elseBlock(), middle, end);
  return choice.getResult(0);
}

Value ConcatOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  SmallVector<int64_t> offsets = {0};
  for (Value input : getInputs().drop_back())
    offsets.push_back(offsets.back() + shapeOf(input)[getDimension()]);
  return concatenated(*this, s, offsets, 0, getInputs().size(), indices, operand);
}

} // namespace weir
