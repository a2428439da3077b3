//===- CommunicationCost.h - The cost of a sharding -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For comparing shardings, not for predicting times: it assumes that nothing is fused, and that
// communication does not overlap with computation.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_COMMUNICATIONCOST_H
#define WEIR_PASSES_SHARDING_COMMUNICATIONCOST_H

#include "passes/sharding/Propagation.h"
#include "passes/sharding/Reshard.h"
#include "support/mesh/MachineRates.h"

namespace weir::sharding {

struct ShardingCost {
  double computing = 0;  ///< seconds of a rank
  double exchanging = 0; ///< seconds
  double moved = 0;      ///< bytes that a rank receives

  double total() const { return computing + exchanging; }
};

/// Adds the cost of a reshard step, for a value whose shards have that layout before it.
void add(ShardingCost &cost, const Step &step, const Layout &before, int64_t elementBytes,
         const Mesh &mesh, const MeshRates &rates, double times = 1);

/// The cost of one run of the entry.
ShardingCost shardingCostOf(mlir::func::FuncOp entry, const Propagation &propagation,
                            const Mesh &mesh, const MeshRates &rates);

} // namespace weir::sharding

#endif
