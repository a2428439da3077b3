//===- ExpertParallel.h - Expert parallelism ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks along the axis hold different rows of a batch, and different experts. A parameter belongs
// to experts if it has at least three dimensions, and its first dimension is a batch dimension of
// products: both operands and the result have it. From these products, the sharding spreads until
// it reaches ops that do not compute such products, which route the tokens. There, collectives move
// tokens from the ranks that hold their rows to the ranks that hold their experts, and back
// (Lepikhin et al., "GShard: Scaling giant models with conditional computation and automatic
// sharding", ICLR 2021).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_EXPERTPARALLEL_H
#define WEIR_PASSES_SHARDING_EXPERTPARALLEL_H

#include "passes/sharding/Propagation.h"

namespace weir::sharding {

/// Pins the ops that compute with experts, and shards their variables. Fails, with a diagnostic, if
/// a step has no experts, or fewer than ranks.
llvm::LogicalResult applyExpertParallel(mlir::func::FuncOp entry, Propagation &propagation,
                                        const Mesh &mesh, unsigned axis);

} // namespace weir::sharding

#endif
