//===- Stages.h - The stages of a mesh -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_MESH_STAGES_H
#define WEIR_SUPPORT_MESH_STAGES_H

#include "support/mesh/Mesh.h"

namespace weir {

/// Ranks along pp: 1 where there is no pipeline.
inline int64_t stagesOf(const Mesh &mesh) {
  int axis = mesh.find(stageAxis);
  return axis < 0 ? 1 : mesh.axes[static_cast<size_t>(axis)].size;
}

/// The first rank of each stage, in their order; without stages the first of all.
inline std::vector<int64_t> firstRanksOf(const Mesh &mesh) {
  int axis = mesh.find(stageAxis);
  return axis < 0 ? std::vector<int64_t>{0} : mesh.along(0, static_cast<unsigned>(axis));
}

} // namespace weir

#endif
