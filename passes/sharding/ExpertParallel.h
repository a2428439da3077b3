//===- ExpertParallel.h - What is cut over an axis by experts -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expert parallelism: ranks along the axis have other rows of a batch, and other experts. A
// parameter is of experts if it has three dimensions at least and its first one counts products:
// both factors and the result have it. From these products the cut goes as far as to what is no
// such product: there tokens are routed, and are moved from the ranks that have their rows to those
// that have their experts, and back (Lepikhin et al., "GShard: Scaling giant models with
// conditional computation and automatic sharding", ICLR 2021).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_EXPERTPARALLEL_H
#define WEIR_PASSES_SHARDING_EXPERTPARALLEL_H

#include "passes/sharding/Propagation.h"

namespace weir::sharding {

/// Pins what computes with experts, and gives the variables that have one for each of them their
/// cut. Failure, with a diagnostic, where a step has none, or one fewer than there are ranks.
llvm::LogicalResult applyExpertParallel(mlir::func::FuncOp entry, Propagation &propagation,
                                        const Mesh &mesh, unsigned axis);

} // namespace weir::sharding

#endif
