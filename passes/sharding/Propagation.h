//===- Propagation.h - Propagates shardings -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shardings propagate from the values that have them along the factors of ops (Shardable), forward
// and backward, until nothing changes. A value only gains shardings, and keeps the first one for
// each dimension: the earliest seed has priority. If two shardings conflict, an op's operands and
// results differ from the sharding that it computes with, and partitioning reshards them.
//
// An op that is pinned over an axis has the pinned sharding, and nothing propagates over that axis
// through it. Its operands and results have the shardings of their other uses, and are resharded.
//
// Variables and an entry's arguments are fixed: they keep the shardings in which they are stored.
// Over some axes, they get these before others. All reads of a variable have one sharding.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_PROPAGATION_H
#define WEIR_PASSES_SHARDING_PROPAGATION_H

#include "ir/weir/WeirDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/mesh/Layout.h"
#include <functional>
#include <memory>

namespace weir::sharding {

class Propagation {
public:
  /// `mesh` must outlive it.
  explicit Propagation(const Mesh &mesh) : meshOf(&mesh) {}

  /// Fixes the sharding of a value.
  void fix(mlir::Value value, const Layout &layout);
  /// Fixes the sharding of a value over one axis.
  void fix(mlir::Value value, unsigned axis);

  /// From here on, the result of a loop over microbatches may be sharded over more axes than what
  /// its body yields: each microbatch reduces its part of the sum to the result's sharding.
  void untie(mlir::Value result) { untied.insert(result); }

  /// Adds shardings to a value, except those that conflict with its own.
  void seed(mlir::Value value, const Layout &layout) { add(value, layout); }

  /// Shards the op's factors over the axis as those of `cuts`, inside their other shardings, if no
  /// shard becomes empty.
  void pin(Shardable op, unsigned axis, Layout cuts, std::string why);

  /// From here on, propagates only through ops for which this accepts their new shardings.
  using Passes = std::function<bool(Shardable op, const Layout &cuts)>;
  void spreadThrough(Passes some) { passes = std::move(some); }

  /// Propagates everything fixed and seeded since the last call over the entry. `why` is the
  /// reason, in the words of the model's author.
  void run(mlir::func::FuncOp entry, std::string why);

  /// The reason for each axis of a value's sharding: "dp: rows of a batch; tp: with h.*.up".
  std::string whyOf(mlir::Value value) const;
  /// The same for an op's first result.
  std::string whyOf(Shardable op) const;

  /// The known sharding of a value; replicated if nothing is known.
  Layout of(mlir::Value value) const;
  /// The shardings of an op's factors, each as a dimension, as they follow from those of its
  /// operands and results: the oldest first, then operands first, then large ones first. The
  /// reference stays valid until one of these changes.
  const Layout &factors(Shardable op) const;

  /// The op's rule, which is computed once.
  const ShardRule &ruleOf(Shardable op) const;
  /// The op's cost unsharded, which is computed once.
  const Cost &costOf(mlir::Operation *op) const;

private:
  struct Known {
    Layout layout;
    llvm::SmallVector<unsigned> rounds; ///< for each axis, the round in which it was added
    Axes fixed = {};
  };

  struct Pin {
    unsigned axis;
    Layout cuts;
    std::string why;
  };
  llvm::ArrayRef<Pin> pinsOf(mlir::Operation *op) const;
  const Pin *pinOf(mlir::Operation *op, unsigned axis) const;
  std::string whyOf(mlir::Value value, unsigned axis) const;

  /// Queues the ops of a changed value again.
  void touch(mlir::Value value);
  bool spread(mlir::Operation *op);
  bool spread(MicrobatchesOp loop);
  bool tie(mlir::Value a, mlir::Value b);
  Layout factorsNow(Shardable op) const;
  bool tieSlices(mlir::Value slice, mlir::Value whole, int64_t count);
  bool add(mlir::Value value, const Layout &layout);
  Known &about(mlir::Value value);

  const Mesh &mesh() const { return *meshOf; }
  unsigned round() const { return unsigned(reasons.size()); }

  const Mesh *meshOf;
  llvm::DenseMap<mlir::Value, Known> known;
  llvm::DenseSet<mlir::Value> untied;
  /// Copies of a propagation are for the same entry.
  std::shared_ptr<llvm::DenseMap<mlir::Operation *, Cost>> costs =
      std::make_shared<llvm::DenseMap<mlir::Operation *, Cost>>();
  std::shared_ptr<llvm::DenseMap<mlir::Operation *, ShardRule>> rules =
      std::make_shared<llvm::DenseMap<mlir::Operation *, ShardRule>>();
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Pin, 1>> pins;
  /// Cached results of factors(), for ops whose values have not changed since.
  mutable llvm::DenseMap<mlir::Operation *, std::shared_ptr<const Layout>> settled;
  Passes passes;
  std::vector<std::string> reasons; ///< of each completed round
  llvm::DenseSet<mlir::Operation *>
      unsettled; ///< one of their values has changed since they propagated
};

} // namespace weir::sharding

#endif
