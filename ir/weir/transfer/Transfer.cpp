//===- Transfer.cpp - Values from stage to stage --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/transfer/Transfer.h"
#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/program/Microbatches.h"

using namespace mlir;

namespace weir {

ShardRule StageTransferOp::shardRule() { return elementwiseShardRule(*this); }

Cost StageTransferOp::cost() { return costOf(*this, 0); }

/// A sum that is still to be made is sent as what each has of it.
Linearity StageTransferOp::linearity() { return Linearity::first; }

LogicalResult StageTransferOp::verify() {
  // C1
  if (static_cast<int64_t>(getFrom()) < 0 || static_cast<int64_t>(getTo()) < -1 ||
      getFrom() == getTo())
    return emitOpError("goes from one stage to another, or to all (-1)");
  // C2
  if (static_cast<int64_t>(getNumber()) < 1)
    return emitOpError("needs a positive number");
  return success();
}

template <class Op> static LogicalResult verifyTransfer(Op op) {
  // C1
  if (static_cast<int64_t>(op.getPeer()) < 0)
    return op.emitOpError("names no rank along \"") << op.getAxis() << "\"";
  // C2
  if (static_cast<int64_t>(op.getNumber()) < 1)
    return op.emitOpError("needs a positive number");
  return success();
}

LogicalResult SendOp::verify() { return verifyTransfer(*this); }
LogicalResult ReceiveOp::verify() { return verifyTransfer(*this); }

int64_t computedMicrobatches(MicrobatchesOp loop) {
  auto sampled = loop->getAttrOfType<IntegerAttr>(sampledAttrName);
  return sampled ? sampled.getInt() : int64_t(loop.getCount());
}

} // namespace weir
