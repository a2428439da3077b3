//===- Groups.h - Groups of ops that become one kernel --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group is a set of ops of one block that becomes one weir.kernel. A fused group has a domain: a
// full shape S and, if it contains a reduction, a split p of S into rows (the first p dimensions)
// and columns. Its values are full (S), per row (S[:p]), per column (S[p:]) or scalars. A sum over
// rows (per column, or a scalar) is complete only when the kernel ends, so no op of the same group
// may use it. A group is no larger than a kernel may be (ir/weir/kernel/KernelLimits.h).
//
// Cheap ops (constants, broadcasts, iota, layout views, casts that widen) belong to no group: each
// group that needs one clones it. Aliases (split_dim, merge_dims) change no memory, and stay
// outside kernels.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_FUSION_GROUPS_H
#define WEIR_PASSES_FUSION_GROUPS_H

#include "ir/weir/WeirDialect.h"
#include "passes/fusion/GroupOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <deque>

namespace weir {

/// Most groups are small, and there may be as many groups as ops.
using OpSet = llvm::SmallSetVector<mlir::Operation *, 4>;

struct FusionGroup {
  OpSet ops;                     ///< in program order once sorted
  llvm::ArrayRef<int64_t> shape; ///< S, as in its type; the rows' shape if the group has only rows
  int64_t rows = -1;             ///< p; -1 while every split is possible
  bool fused = false;
  bool reducesAll = false; ///< it reduces a whole tensor to a scalar
};

class Groups {
public:
  /// Builds the groups of a block, and merges groups. The sum of a whole tensor is added up in rows
  /// of its own, unless its kernel has rows for another reduction. `wholesApart` keeps the two
  /// apart, so that the order of the sum follows only from the tensor's shape.
  Groups(mlir::Block &block, bool wholesApart);

  /// Groups with ops, in program order of their first op.
  llvm::SmallVector<FusionGroup *> all();
  FusionGroup *of(mlir::Operation *op) const { return groupOf.lookup(op); }

  /// Moves an op into a group, from its current one.
  void adopt(mlir::Operation *op, FusionGroup *group);
  /// Erases an unused op.
  void erase(mlir::Operation *op);

  /// Whether a kernel of the group's ops and these is within the limits.
  static bool fits(const FusionGroup &group, const OpSet &others);

  /// The number of ops visited to find out which groups can be merged.
  size_t steps() const { return looked + order.steps(); }

private:
  void mergeAlongEdges();
  void mergeSiblings();
  void tryMerge(FusionGroup *producer, FusionGroup *consumer);
  bool edgesAllow(FusionGroup *producer, FusionGroup *consumer, const FusionGroup &merged);
  bool joins(const FusionGroup &producer, const FusionGroup &consumer, FusionGroup &merged);
  void absorb(FusionGroup *into, FusionGroup *from, const FusionGroup &merged);

  bool mayReduceTogether(const FusionGroup &a, const FusionGroup &b) const {
    return !wholesApart || a.rows < 0 || b.rows < 0 || a.reducesAll == b.reducesAll;
  }

  mlir::Block &block;
  const bool wholesApart;
  GroupOrder order;
  std::deque<FusionGroup> storage;
  llvm::DenseMap<mlir::Operation *, FusionGroup *> groupOf;
  size_t looked = 0;
};

/// The op's operands, looking through the cheap ops that it would clone: values from memory or from
/// a group. `direct` is false if anything except broadcasts and casts is in between.
struct Source {
  mlir::Value value;
  bool direct;
};
llvm::SmallVector<Source> sources(mlir::Operation *op);

/// Sorts nearby ops of one block by their position in it. (After an insertion,
/// Operation::isBeforeInBlock may renumber the whole block.)
void sortNearby(llvm::SmallVectorImpl<mlir::Operation *> &ops);

/// Whether a user of a value that a kernel computes needs the value in memory: the user is outside
/// the kernel, or is a cheap op with such a user.
bool usedOutside(mlir::Operation *user, llvm::function_ref<bool(mlir::Operation *)> isInside);

} // namespace weir

#endif
