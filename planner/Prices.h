//===- Prices.h - Times of a plan's actions on a cluster ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_PRICES_H
#define WEIR_PLANNER_PRICES_H

#include "passes/collectives/Timing.h"
#include "planner/machines/Cluster.h"
#include "support/mesh/MachineRates.h"
#include "support/mesh/Mesh.h"
#include "support/precision/Precision.h"

namespace weir::planner {

/// Predicted seconds of a rank's actions.
class ClusterPrices : public Prices {
public:
  /// All arguments must outlive it. Rank i has device i; of the devices in the stage of `rank` with
  /// equal shares of rows, the slowest determines the time. `multiplied` is the type of products,
  /// convolutions and attention; `overlap`: whether the compile overlaps communication.
  ClusterPrices(const Cluster &cluster, const Mesh &mesh, int64_t rank, std::string_view multiplied,
                bool overlap);

  double secondsOf(plan::Action action, mlir::SymbolTableCollection &symbols) override;
  bool overlaps(plan::Action action) override;

private:
  double secondsOf(plan::CollectiveOp collective) const;
  double secondsOn(const Device &device, plan::Action action,
                   mlir::SymbolTableCollection &symbols) const;

  const Cluster &cluster;
  const Mesh &mesh;
  const int64_t rank;
  const std::string multiplied;
  const bool overlap;
  std::vector<const Device *> devices; ///< each kind once
};

/// The rates by which the compiler compares shardings on the mesh: the slowest of its ranks'
/// devices, and the links of each axis. `multiplied` is the type of products.
MeshRates ratesOn(const Cluster &cluster, const Mesh &mesh, std::string_view multiplied);
/// The same as a plan file writes it, so that a compile from the file alone shards in the same way.
MeshRates ratesToPlanFor(const Cluster &cluster, const Mesh &mesh, Precision multiplied);

} // namespace weir::planner

#endif
