//===- OpSharding.h - Shardings of an op's operands and results -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op computes with the shardings of its factors. From these follow the shardings to which its
// operands are resharded, and those of its results, both for partitioning and for cost estimates.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_OPSHARDING_H
#define WEIR_PASSES_SHARDING_OPSHARDING_H

#include "ir/weir/WeirDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/mesh/Layout.h"

namespace weir::sharding {

/// A reduction over the shards along an axis that is carried out at once, because it is not a sum.
struct Combination {
  unsigned axis;
  Factor::Kind kind; ///< max, min or combined
};

struct OpSharding {
  llvm::SmallVector<Layout> operands; ///< to which they are resharded
  llvm::SmallVector<Layout> results;  ///< of the results, after `combinations`
  llvm::SmallVector<Combination> combinations;
};

/// `cuts` are the shardings of the rule's factors, each as a dimension. `layoutOf` returns the
/// sharding of a value. If a contracted factor is sharded, results are partial. The reduction waits
/// through ops that are linear in the result, until the first op that is not, or whose result is
/// larger. A factor that has to be whole is sharded only if partitioning has a rule for it
/// (Stripes.h); results without this factor are partial, too.
OpSharding opShardingOf(Shardable op, const ShardRule &rule, const Layout &cuts, const Mesh &mesh,
                        llvm::function_ref<const Layout &(mlir::Value)> layoutOf);

/// The sharding of an operand or result of these dimensions, from the factors' shardings.
Layout layoutOf(llvm::ArrayRef<ShardRule::Dimension> dimensions, const Layout &factors);

/// Whether a value is one number everywhere. It then has every sharding without communication, and
/// does not tie its uses to each other.
bool isUniform(mlir::Value value);

/// No sharding of a rule's factors.
Layout wholeFactors(const ShardRule &rule);

/// The ops from which the entry's outputs are computed, with its loss: the forward pass. All others
/// are gradients, and ops that follow from them.
llvm::DenseSet<mlir::Operation *> forwardOps(mlir::func::FuncOp entry);

} // namespace weir::sharding

#endif
