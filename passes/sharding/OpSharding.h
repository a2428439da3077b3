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
#include "runtime/base/Layout.h"

namespace weir::sharding {

/// A reduction of what ranks along an axis have, which is made at once: it is no sum.
struct Combination {
  unsigned axis;
  Factor::Kind kind; ///< max, min or combined
};

struct OpSharding {
  llvm::SmallVector<Layout> operands; ///< that they are brought to
  llvm::SmallVector<Layout> results;  ///< that they have, once `combinations` are made
  llvm::SmallVector<Combination> combinations;
};

/// `cuts` are those of the rule's factors, each as a dimension; `layoutOf` says how a value lies.
/// Where what is summed over is cut, results are still to be added up. That waits through ops that
/// are linear in it, for the first that is not, or whose result is larger. A factor that has to be
/// whole is cut where whoever partitions the op knows how (Stripes.h): results that do not have it
/// are sums too.
OpSharding opShardingOf(Shardable op, const ShardRule &rule, const Layout &cuts, const Mesh &mesh,
                        llvm::function_ref<const Layout &(mlir::Value)> layoutOf);

/// How an operand or result of these dimensions lies where factors are cut so.
Layout layoutOf(llvm::ArrayRef<ShardRule::Dimension> dimensions, const Layout &factors);

/// Whether a value is one number everywhere, which has any layout without being moved: its uses are
/// not tied to each other by it.
bool isUniform(mlir::Value value);

/// No cuts of a rule's factors.
Layout wholeFactors(const ShardRule &rule);

/// The ops that the entry's figures are computed from, its loss among them: what runs forward. The
/// others are gradients, and what is made of them.
llvm::DenseSet<mlir::Operation *> forwardOps(mlir::func::FuncOp entry);

} // namespace weir::sharding

#endif
