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
#include "runtime/base/Layout.h"
#include <functional>
#include <memory>

namespace weir::sharding {

class Propagation {
public:
  /// `mesh` outlives it.
  explicit Propagation(const Mesh &mesh) : meshOf(&mesh) {}

  /// Gives a value a layout that stays as it is.
  void fix(mlir::Value value, const Layout &layout);
  /// It stays as it is over the axis alone.
  void fix(mlir::Value value, unsigned axis);

  /// Gives a value cuts, as far as they do not contradict those it has.
  void seed(mlir::Value value, const Layout &layout) { add(value, layout); }

  /// The op's factors are cut over the axis as those of `cuts` are, behind what else cuts them,
  /// where each share keeps a place.
  void pin(Shardable op, unsigned axis, Layout cuts, std::string why);

  /// From here on, cuts spread through ops alone that pass with those they would have.
  using Passes = std::function<bool(Shardable op, const Layout &cuts)>;
  void spreadThrough(Passes some) { passes = std::move(some); }

  /// Spreads what has been fixed and seeded since the last time over the entry. `why` says on whose
  /// account, as whoever trains the model would.
  void run(mlir::func::FuncOp entry, std::string why);

  /// On whose account each axis came to cut the value: "dp: rows of a batch; tp: with h.*.up".
  std::string whyOf(mlir::Value value) const;
  /// The same of an op's first result, as the op makes it.
  std::string whyOf(Shardable op) const;

  /// What is known of a value: whole, where nothing is.
  Layout of(mlir::Value value) const;
  /// The cuts of an op's factors, each as a dimension, as they follow from those of its operands
  /// and results: those that are there longest first, operands first, large ones first. Stays as it
  /// is until one of these is changed.
  const Layout &factors(Shardable op) const;

  /// The op's, which is asked once.
  const ShardRule &ruleOf(Shardable op) const;

private:
  struct Known {
    Layout layout;
    llvm::SmallVector<unsigned> rounds; ///< for each axis, in which it was cut
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

  /// Has what is tied to a value that has changed looked at again.
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
  /// Copies of a propagation are of one entry.
  std::shared_ptr<llvm::DenseMap<mlir::Operation *, ShardRule>> rules =
      std::make_shared<llvm::DenseMap<mlir::Operation *, ShardRule>>();
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Pin, 1>> pins;
  /// What factors() has said of ops whose values have not changed since.
  mutable llvm::DenseMap<mlir::Operation *, std::shared_ptr<const Layout>> settled;
  Passes passes;
  std::vector<std::string> reasons;            ///< of each round that is over
  llvm::DenseSet<mlir::Operation *> unsettled; ///< a value of theirs has changed since they spread
};

} // namespace weir::sharding

#endif
