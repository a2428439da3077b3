//===- Statistics.cpp - Rows from their statistics ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Statistics.h"
#include "passes/fusion/Roots.h"

using namespace mlir;

namespace weir {

void computeFromStatistics(Block &block) {
  SmallVector<Decomposable> composites;
  for (Operation &op : block)
    if (auto composite = dyn_cast<Decomposable>(op);
        composite && op.getNumResults() > 1 && fusionClass(&op) == FusionClass::fused &&
        llvm::any_of(op.getResults().drop_front(), [](Value kept) { return !kept.use_empty(); }))
      composites.push_back(composite);
  for (Decomposable composite : composites) {
    OpBuilder builder(composite->getContext());
    builder.setInsertionPointAfter(composite);
    if (Value rows = fromStatistics(composite, composite->getOperands(), builder))
      composite->getResult(0).replaceAllUsesWith(rows);
  }
}

} // namespace weir
