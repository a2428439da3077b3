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

} // namespace

void attachCollective(mlir::MLIRContext &context) {
  attach<AllGatherOp, exchange<AllGatherOp>>(context);
  attach<AllToAllOp, exchange<AllToAllOp>>(context);
}

} // namespace weir::reference
