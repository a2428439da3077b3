//===- Elements.cpp - Scalars of ops on rows -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element computes its row's statistics again: the plain route. The fast ones start from
// decompose patterns.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/rows/Rows.h"

using namespace mlir;

namespace weir {

namespace {
// The elements of one row of an operand, whose row has `size` elements.
struct Row {
  Scalars &s;
  ElementOf operand;
  SmallVector<Value> row;
  int64_t size;

  Value at(unsigned number, Value column) {
    SmallVector<Value> indices(row);
    indices.push_back(column);
    return operand(number, indices);
  }
  Value average(Scalars::Term term) { return s.divf(s.sum(size, term), s.f32(double(size))); }

  /// The largest element of operand 0, and log(sum(exp(x - largest))), which cannot overflow.
  std::pair<Value, Value> logOfSum() {
    Value lowest = s.f32(-std::numeric_limits<double>::infinity());
    Value largest =
        s.loops(size, lowest, [&](ValueRange j, ValueRange carried) -> SmallVector<Value> {
          return {arith::MaximumFOp::create(s.builder, s.loc, carried[0], at(0, j[0]))};
        })[0];
    Value sum = s.sum(size, [&](ValueRange j) { return s.exp(s.subf(at(0, j[0]), largest)); });
    return {largest, s.log(sum)};
  }
};
} // namespace

Value NormalizeOp::element(OpBuilder &builder, unsigned result, ValueRange indices,
                           ElementOf operand) {
  Scalars s(builder, getLoc());
  int64_t size = shapeOf(getInput()).back();
  Row row{s, operand, SmallVector<Value>(indices.take_front(shapeOf(getMean()).size())), size};
  Value mean = row.average([&](ValueRange j) { return row.at(0, j[0]); });
  if (result == 1)
    return mean;
  Value variance = row.average([&](ValueRange j) {
    Value centred = s.subf(row.at(0, j[0]), mean);
    return s.mulf(centred, centred);
  });
  Value rstd =
      math::RsqrtOp::create(builder, getLoc(), s.addf(variance, s.f32(getEps().convertToDouble())));
  if (result == 2)
    return rstd;
  return s.mulf(s.subf(operand(0, indices), mean), rstd);
}

Value NormalizeGradOp::element(OpBuilder &builder, unsigned, ValueRange indices,
                               ElementOf operand) {
  Scalars s(builder, getLoc());
  Row row{s, operand, SmallVector<Value>(indices.drop_back()), shapeOf(getInput()).back()};
  Value mean = operand(1, indices.drop_back()), rstd = operand(2, indices.drop_back());
  auto normalized = [&](Value j) { return s.mulf(s.subf(row.at(0, j), mean), rstd); };
  Value gradient = row.average([&](ValueRange j) { return row.at(3, j[0]); });
  Value product =
      row.average([&](ValueRange j) { return s.mulf(row.at(3, j[0]), normalized(j[0])); });
  Value centred = s.subf(operand(3, indices), gradient);
  return s.mulf(rstd, s.subf(centred, s.mulf(normalized(indices.back()), product)));
}

Value LogSoftmaxOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  Row row{s, operand, SmallVector<Value>(indices.drop_back()), shapeOf(getInput()).back()};
  auto [largest, logSum] = row.logOfSum();
  return s.subf(s.subf(operand(0, indices), largest), logSum);
}

Value SoftmaxCrossEntropyOp::element(OpBuilder &builder, unsigned result, ValueRange indices,
                                     ElementOf operand) {
  Scalars s(builder, getLoc());
  int64_t classes = shapeOf(getLogits()).back();
  Row row{s, operand, SmallVector<Value>(indices), classes};
  auto [largest, logSum] = row.logOfSum();
  if (result == 1)
    return s.addf(largest, logSum);
  Value labelled =
      s.readInside(operand(1, indices), classes, [&](Value label) { return row.at(0, label); });
  return s.addf(logSum, s.subf(largest, labelled));
}

Value SoftmaxCrossEntropyGradOp::element(OpBuilder &builder, unsigned, ValueRange indices,
                                         ElementOf operand) {
  Scalars s(builder, getLoc());
  auto row = indices.drop_back();
  Value column =
      arith::IndexCastOp::create(builder, getLoc(), builder.getI32Type(), indices.back());
  Value isLabel = s.compare(arith::CmpIPredicate::eq, column, operand(1, row));
  Value probability = s.exp(s.subf(operand(0, indices), operand(2, row)));
  Value difference = s.subf(probability, s.select(isLabel, s.f32(1), s.f32(0)));
  return s.mulf(difference, operand(3, row));
}

} // namespace weir
