//===- RankPrograms.h - Which ranks run the same program ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_RANKPROGRAMS_H
#define WEIR_IR_WEIR_RANKPROGRAMS_H

#include "ir/weir/WeirDialect.h"
#include "support/mesh/Mesh.h"

namespace weir {

struct RankPrograms {
  std::vector<int64_t>
      firstRank; ///< of each program, the first that runs it; rank 0 runs the first
  std::vector<uint32_t> programOf; ///< of each rank
};

/// Of a program whose layouts are known (weir-propagate-layouts): ranks whose shares, and those of
/// the members that they meet, have the same sizes run the same one, if they are of one stage.
RankPrograms rankPrograms(mlir::ModuleOp module, const Mesh &mesh);

/// Whether all shards of each tensor of such a program have the same size.
bool hasEqualShards(mlir::ModuleOp module, const Mesh &mesh);

/// What the rank of a program has of its variable: behind weir-split-stages, of another stage's a
/// tensor of nothing.
mlir::Type typeHere(VariableOp variable);

} // namespace weir

#endif
