//===- CollectiveOps.cpp - Collectives, reference semantics ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the other members have, whoever interprets them knows.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"

namespace weir::reference {
namespace {

template <class Op> mlir::FailureOr<Tensors> exchange(Op op, Inputs in, Interpreter &interpreter) {
  if (!interpreter.exchange) {
    op.emitOpError("is one rank's, and the others are not interpreted");
    return mlir::failure();
  }
  mlir::FailureOr<Tensor> result = interpreter.exchange(op, in[0]);
  if (mlir::failed(result))
    return mlir::failure();
  return Tensors{std::move(*result)};
}

/// Where a row of a part begins in the whole.
int64_t placeInWhole(const Tensor &whole, int64_t firstColumn, int64_t row) {
  return row * whole.shape.back() + firstColumn;
}

int64_t rowsOf(const Tensor &one) { return one.shape.size() == 1 ? 1 : one.shape.front(); }

Tensors pack(PackOp op, Inputs in) {
  Tensor whole(shapeOf(op.getResult()));
  int64_t column = 0;
  for (const Tensor &part : in) {
    int64_t width = part.shape.back();
    for (int64_t row = 0; row < rowsOf(part); ++row)
      std::copy_n(part.values.begin() + row * width, width,
                  whole.values.begin() + placeInWhole(whole, column, row));
    column += width;
  }
  return {whole};
}

Tensors unpack(UnpackOp op, Inputs in) {
  Tensors parts;
  int64_t column = 0;
  for (mlir::Value value : op.getParts()) {
    Tensor &part = parts.emplace_back(shapeOf(value));
    int64_t width = part.shape.back();
    for (int64_t row = 0; row < rowsOf(part); ++row)
      std::copy_n(in[0].values.begin() + placeInWhole(in[0], column, row), width,
                  part.values.begin() + row * width);
    column += width;
  }
  return parts;
}

} // namespace

void attachCollective(mlir::MLIRContext &context) {
  attach<AllGatherOp, exchange<AllGatherOp>>(context);
  attach<AllToAllOp, exchange<AllToAllOp>>(context);
  attach<PackOp, pack>(context);
  attach<UnpackOp, unpack>(context);
}

} // namespace weir::reference
