//===- Strategy.cpp - Every decision about a training step ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "strategy/Strategy.h"
#include "support/mesh/RankPlacement.h"
#include "support/mesh/Stages.h"

namespace weir {

int64_t Strategy::stages() const { return stagesOf(mesh); }

Strategy Strategy::carriedOut(std::string_view target) const {
  Strategy out = *this;
  // One CPU by itself is no mesh. One GPU stays one, over NCCL: it is how that is tried.
  if (!*deterministic) {
    if (mesh.ranks() == 1 && target.starts_with("cpu"))
      out.mesh = {};
    return out;
  }
  // With as little on each rank as can be, since a process has many. Stages change no bit; experts
  // and parts of sequences are as many as the mesh says. Axes are in one order, however the mesh
  // names them: sums over several axes are made in theirs.
  out.mesh = {};
  for (std::string_view name : {stageAxis, expertAxis, contextAxis})
    if (int axis = mesh.find(name); axis >= 0 && mesh.axes[size_t(axis)].size > 1)
      out.mesh.axes.push_back({std::string(name), mesh.axes[size_t(axis)].size});
  for (std::string_view name : {dataAxis, tensorAxis})
    out.mesh.axes.push_back({std::string(name), deterministicRanks});
  for (const Mesh::Axis &axis : mesh.withoutNodes().axes)
    if (axis.name == dataAxis || axis.name == tensorAxis || axis.size > 1)
      out.hosts.axes.push_back(axis);
  if (out.hosts.axes.empty())
    out.hosts.axes.push_back({std::string(dataAxis), 1});
  out.zero = 3;
  // The ranks of one process communicate together, in one order.
  out.overlap = false;
  return out;
}

} // namespace weir
