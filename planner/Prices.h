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

/// Seconds of a rank's actions.
class ClusterPrices : public Prices {
public:
  /// All outlive it. Ranks have the devices of their number; of those in the stage of `rank` that
  /// have as much of all rows the slowest is waited for. `multiplied` is what products and their
  /// like multiply; `overlap`: exchanges are compiled to go on beside what is computed.
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

/// What ways to cut a program over the mesh are weighed by: the slowest of its ranks' devices, and
/// what joins the members of each axis. `multiplied` is what products multiply.
MeshRates ratesOn(const Cluster &cluster, const Mesh &mesh, std::string_view multiplied);
/// The same as a plan file writes them, so that a program is sharded alike where only the file is
/// known.
MeshRates ratesToPlanFor(const Cluster &cluster, const Mesh &mesh, Precision multiplied);

} // namespace weir::planner

#endif
