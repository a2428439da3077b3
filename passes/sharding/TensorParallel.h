//===- TensorParallel.h - What is cut over an axis that cuts no rows ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor parallelism: matrices of parameters are cut, and what is multiplied with them. Which
// dimension of each is chosen by price: layers of one kind are cut alike, the largest first, and a
// cut spreads to what it ties, so that a second matrix that multiplies what a first one makes
// follows. All are cut that can be: a price has no memory in it, and who wants no such axis asks
// for none. What comes out is Shoeybi et al., "Megatron-LM: Training multi-billion parameter
// language models using model parallelism", 2019: columns, then rows, and one sum behind them.
//
// Sequence parallelism: what is added up over the axis is cut there along another dimension, and
// so is what follows from it alone (Korthikanti et al., "Reducing activation recomputation in large
// transformer models", 2022).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_TENSORPARALLEL_H
#define WEIR_PASSES_SHARDING_TENSORPARALLEL_H

#include "passes/sharding/Propagation.h"
#include "runtime/base/MachineRates.h"

namespace weir::sharding {

/// Spreads cuts of the entry's matrices over the axis, and in the forward computation, if
/// `cutsSums`, of what is a sum over it.
void applyTensorParallel(mlir::func::FuncOp entry, Propagation &propagation, const Mesh &mesh,
                         const MeshRates &rates, unsigned axis, bool cutsSums);

} // namespace weir::sharding

#endif
