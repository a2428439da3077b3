//===- RankPlacement.h - Which process has which ranks --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The processes of a run are a mesh too, "dp=2,tp=2", each with a block of neighbours of the ranks'
// mesh: of "dp=8,tp=8" the first four along dp and along tp are the first process's. Where a
// process is one rank, both are the same.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_MESH_RANKPLACEMENT_H
#define WEIR_SUPPORT_MESH_RANKPLACEMENT_H

#include "support/mesh/Mesh.h"

namespace weir {

/// With --deterministic: the ranks along dp and along tp that a step has on any mesh. What so many
/// have, or fewer, is added up in their order, by every kernel and bucket that does so.
constexpr int64_t deterministicRanks = 8;

/// What keeps the processes from having equal blocks, or "".
std::string wrongHosts(const Mesh &hosts, const Mesh &ranks);

/// The process that has a rank.
int64_t hostOf(const Mesh &hosts, const Mesh &ranks, int64_t rank);

/// The ranks that a process has, in ascending order.
std::vector<int64_t> hostedBy(const Mesh &hosts, const Mesh &ranks, int64_t process);

} // namespace weir

#endif
