//===- ChooseCuts.h - What is cut over an axis that no rows are cut over --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor parallelism: matrices of parameters are cut, and what is multiplied with them. Which
// dimension of each is chosen by price: layers of one kind are cut alike, the largest first, and a
// cut spreads to what it ties, so that a second matrix that multiplies what a first one makes
// follows. What comes out is Shoeybi et al., "Megatron-LM: Training multi-billion parameter
// language models using model parallelism", 2019: columns, then rows, and one sum behind them.
//
// Sequence parallelism: what is added up over the axis is cut there along another dimension, and
// so is what follows from it alone (Korthikanti et al., "Reducing activation recomputation in large
// transformer models", 2022).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_CHOOSECUTS_H
#define WEIR_PASSES_SHARDING_CHOOSECUTS_H

#include "passes/sharding/Propagation.h"

namespace weir::sharding {

/// Spreads cuts of the entry's matrices over the axis.
void cutMatrices(mlir::func::FuncOp entry, Propagation &propagation, const Mesh &mesh,
                 unsigned axis);

/// Spreads cuts of what is a sum over the axis, in the forward computation.
void cutSums(mlir::func::FuncOp entry, Propagation &propagation, const Mesh &mesh, unsigned axis);

} // namespace weir::sharding

#endif
