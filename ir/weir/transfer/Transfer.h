//===- Transfer.h - Values from stage to stage ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_TRANSFER_TRANSFER_H
#define WEIR_IR_WEIR_TRANSFER_TRANSFER_H

#include "ir/weir/WeirDialect.h"

#define GET_OP_CLASSES
#include "ir/weir/transfer/Transfer.h.inc"

namespace weir {

/// Of an op of the program of all ranks, and of a variable: its stage. What has none is on all
/// stages.
inline constexpr llvm::StringLiteral stageAttrName = "weir.stage";
/// Of microbatches: which part of each they are (a number), and of the first part, in which order
/// parts and microbatches follow each other: pairs of a part and a microbatch.
inline constexpr llvm::StringLiteral sectionAttrName = "weir.section", orderAttrName = "weir.order";
/// Of microbatches, where a plan is made to be looked at and not to be run: how many of them stages
/// compute.
inline constexpr llvm::StringLiteral sampledAttrName = "weir.sampled";

/// Microbatches that stages compute in a step.
int64_t computedMicrobatches(MicrobatchesOp loop);

inline bool isTransfer(mlir::Operation *op) { return llvm::isa<SendOp, ReceiveOp>(op); }

} // namespace weir

#endif
