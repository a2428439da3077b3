//===- CollectiveOps.cpp - Collectives, reference semantics ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What other ranks have, whoever interprets them knows.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/transfer/Transfer.h"

namespace weir::reference {
namespace {

template <class Op> mlir::FailureOr<Tensors> exchange(Op op, Inputs in, Interpreter &interpreter) {
  if (!interpreter.exchange) {
    op.emitOpError("is one rank's, and the others are not interpreted");
    return mlir::failure();
  }
  mlir::FailureOr<Tensor> result = interpreter.exchange(op, in.empty() ? Tensor() : in[0]);
  if (mlir::failed(result))
    return mlir::failure();
  return op->getNumResults() ? Tensors{std::move(*result)} : Tensors{};
}

/// Runs `fn(row of a part, the same in the whole, width)` for each row of each part.
template <class Whole, class Parts, class Fn> void forEachRow(Whole &whole, Parts &parts, Fn &&fn) {
  int64_t column = 0, total = whole.shape.back(), rows = int64_t(whole.values.size()) / total;
  for (auto &part : parts) {
    int64_t width = part.shape.back();
    for (int64_t row = 0; row < rows; ++row)
      fn(part.values.begin() + row * width, whole.values.begin() + row * total + column, width);
    column += width;
  }
}

Tensors pack(PackOp op, Inputs in) {
  Tensor whole(shapeOf(op.getResult()));
  forEachRow(whole, in,
             [](auto part, auto place, int64_t width) { std::copy_n(part, width, place); });
  return {whole};
}

Tensors unpack(UnpackOp op, Inputs in) {
  Tensors parts;
  for (mlir::Value value : op.getParts())
    parts.emplace_back(shapeOf(value));
  forEachRow(in[0], parts,
             [](auto part, auto place, int64_t width) { std::copy_n(place, width, part); });
  return parts;
}

Tensors stageTransfer(StageTransferOp, Inputs in) { return {in[0]}; }

mlir::FailureOr<Tensors> save(SaveOp op, Inputs in, Interpreter &interpreter) {
  interpreter.saved[{int64_t(op.getNumber()), interpreter.microbatch}] = in[0];
  return Tensors{};
}

mlir::FailureOr<Tensors> saved(SavedOp op, Inputs, Interpreter &interpreter) {
  auto found = interpreter.saved.find({int64_t(op.getNumber()), interpreter.microbatch});
  if (found == interpreter.saved.end()) {
    op.emitOpError("is saved by no section that has run");
    return mlir::failure();
  }
  return Tensors{found->second};
}

} // namespace

void attachCollective(mlir::MLIRContext &context) {
  attach<AllReduceOp, exchange<AllReduceOp>>(context);
  attach<ReduceScatterOp, exchange<ReduceScatterOp>>(context);
  attach<AllGatherOp, exchange<AllGatherOp>>(context);
  attach<AllToAllOp, exchange<AllToAllOp>>(context);
  attach<CollectivePermuteOp, exchange<CollectivePermuteOp>>(context);
  attach<PackOp, pack>(context);
  attach<UnpackOp, unpack>(context);
  attach<StageTransferOp, stageTransfer>(context);
  attach<SendOp, exchange<SendOp>>(context);
  attach<ReceiveOp, exchange<ReceiveOp>>(context);
  attach<SaveOp, save>(context);
  attach<SavedOp, saved>(context);
}

} // namespace weir::reference
