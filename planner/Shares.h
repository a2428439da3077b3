//===- Shares.h - Shares of unequal devices -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_SHARES_H
#define WEIR_PLANNER_SHARES_H

#include "planner/machines/Cluster.h"
#include "support/mesh/Mesh.h"

namespace weir::planner {

/// The mesh, and variants with shares of rows (dp), of layers (pp), or of both, with which all
/// ranks compute equally long; only the mesh itself if all devices are equally fast. Ranks at the
/// same coordinate of an axis count as fast as the slowest of them. With many ranks, rows have
/// equal shares. `multiplied` is the type of products.
std::vector<Mesh> meshesWithShares(const Mesh &mesh, const Cluster &cluster,
                                   std::string_view multiplied);

/// The time of the slowest rank of each stage, in order, in units of the time of the largest share
/// of rows on the slowest of the first devices: as many as the product of tp, cp and ep.
std::vector<double> slownessOfStages(const Mesh &mesh, const Cluster &cluster,
                                     std::string_view multiplied);

} // namespace weir::planner

#endif
