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

/// The mesh, and those that have shares of rows (dp), of layers (pp), or of both, for which its
/// ranks' devices compute as long; itself alone where devices are as fast. The ranks along an axis
/// that are as far are taken to be as fast as the slowest of them. Of many ranks rows are shared
/// equally. `multiplied` is what products
/// multiply.
std::vector<Mesh> meshesWithShares(const Mesh &mesh, const Cluster &cluster,
                                   std::string_view multiplied);

/// How long the slowest rank of each stage computes, in their order, where that is 1 for the
/// largest share of rows on the slowest of the first devices: of as many as tp, cp and ep have
/// ranks.
std::vector<double> slownessOfStages(const Mesh &mesh, const Cluster &cluster,
                                     std::string_view multiplied);

} // namespace weir::planner

#endif
