//===- GroupOrder.h - A topological order of fusion groups ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contains the ops of a block, the groups that fusion merges them into, and a topological order of
// all these. A query whether one group depends on another goes back from the later group, and never
// past the earlier one. Merging moves the dependences of the later group before the earlier one, as
// Pearce and Kelly do for a new edge ("A dynamic topological sort algorithm for directed acyclic
// graphs", 2006). So no later query visits them again.
//
// Most dependences are long paths, as from a gradient to its layer. Such paths run along the
// block's longest chain of ops, where a comparison of positions replaces the walk.
//
// Cheap ops are cloned into the groups that use them, so such an op may stand after these groups.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_FUSION_GROUPORDER_H
#define WEIR_PASSES_FUSION_GROUPORDER_H

#include "ir/weir/WeirDialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace weir {

/// Each op stands for its group. At first every op is a group of its own, except the sections of
/// microbatches (passes/stages/GatherSections.h), which are adjacent in the block and form one
/// group.
class GroupOrder {
public:
  explicit GroupOrder(mlir::Block &block);

  /// Whether `later` depends on `earlier` through a third group. With `direct`, an edge between the
  /// two themselves, or through a cheap op, does not count.
  bool otherPath(mlir::Operation *earlier, mlir::Operation *later, bool direct);

  /// Merges two groups, neither of which depends on the other through a third.
  void merge(mlir::Operation *a, mlir::Operation *b);

  /// The number of ops visited so far.
  size_t steps() const { return looked; }

private:
  using Ops = llvm::SmallVector<unsigned, 2>;

  void findChain();
  bool search(unsigned from, unsigned to, bool direct, llvm::SmallVectorImpl<unsigned> &found);
  bool isBefore(unsigned a, unsigned b) const { return labels[a] < labels[b]; }
  void unlink(unsigned group);
  void insertBefore(unsigned group, unsigned place);
  void makeRoomBefore(unsigned place);

  llvm::DenseMap<mlir::Operation *, unsigned> numbers; ///< in program order
  std::vector<Ops> reads;                              ///< the ops of this block that each op reads
  llvm::BitVector cheap;
  std::vector<unsigned> groupOf;
  // By group: the number of one of its ops.
  std::vector<Ops> members;
  std::vector<unsigned> chainBehind; ///< the first op of the chain that depends on it
  std::vector<unsigned> chainBefore; ///< 1 + the last op of the chain that it depends on
  std::vector<unsigned> seen;        ///< the last search that visited it
  // The order: a list between two sentinels, with ascending labels.
  std::vector<unsigned> before, behind;
  std::vector<uint64_t> labels;
  unsigned searches = 0;
  size_t looked = 0;
};

} // namespace weir

#endif
