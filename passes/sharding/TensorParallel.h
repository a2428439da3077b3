//===- TensorParallel.h - Tensor and sequence parallelism -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor parallelism shards the matrices of parameters, and the products with them. A cost model
// chooses the dimension of each matrix. Layers of one kind are sharded alike, the largest first. A
// sharding propagates to the values that it ties, so a second matrix follows the result of a first
// one. Every matrix that can be sharded is: the cost contains no memory, and a user who does not
// want this passes no such axis. The result is Shoeybi et al., "Megatron-LM: Training multi-billion
// parameter language models using model parallelism", 2019: a matrix sharded by columns, then one
// by rows, and one reduction after them.
//
// Sequence parallelism: the results of these reductions are sharded along another dimension over
// the axis, and so are the values that follow from them alone (Korthikanti et al., "Reducing
// activation recomputation in large transformer models", 2022).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_TENSORPARALLEL_H
#define WEIR_PASSES_SHARDING_TENSORPARALLEL_H

#include "passes/sharding/Propagation.h"
#include "support/mesh/MachineRates.h"

namespace weir::sharding {

/// Shards the entry's matrices over the axis and propagates. With `cutsSums`, also shards the
/// partial sums over the axis in the forward pass.
void applyTensorParallel(mlir::func::FuncOp entry, Propagation &propagation, const Mesh &mesh,
                         const MeshRates &rates, unsigned axis, bool cutsSums);

} // namespace weir::sharding

#endif
