//===- EntryLifetimes.h - Lifetimes of an entry's buffers -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_MEMORY_ENTRYLIFETIMES_H
#define WEIR_PASSES_MEMORY_ENTRYLIFETIMES_H

#include "ir/plan/PlanOps.h"
#include "passes/memory/Placement.h"
#include "llvm/ADT/MapVector.h"

namespace weir {

/// The lifetimes of the buffers of an entry in the order of actions that it has now. What another
/// queue than 0 touches stays alive until queue 0 has waited for that: whoever has its place next
/// then comes after it.
class EntryLifetimes {
public:
  explicit EntryLifetimes(plan::EntryOp entry);

  /// By plan.alloc that something uses. Sizes are multiples of 64.
  const llvm::MapVector<mlir::Operation *, Lifetime> &all() const { return lifetimes; }

  int64_t actions() const { return count; }
  /// The number of an action.
  int64_t numberOf(mlir::Operation *action) const { return numbers.at(action); }

  /// Places those of a space from `base` on.
  Placement place(plan::Space space, int64_t base) const;

private:
  void number(mlir::Block &block);
  void use(mlir::Value value, int64_t first, int64_t last, mlir::Operation *user);
  void findJoins(mlir::Block &block);
  int64_t joined(mlir::Operation *action, int64_t at) const;

  int64_t count = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> spans; ///< of loops
  llvm::MapVector<mlir::Operation *, Lifetime> lifetimes;
  /// By block and queue, where events are recorded on it and where queue 0 has first waited for
  /// each behind that, in the same block.
  llvm::DenseMap<std::pair<mlir::Block *, uint64_t>, llvm::SmallVector<std::pair<int64_t, int64_t>>>
      joins;
};

/// The bytes of a buffer as they are placed.
inline int64_t alignedBytes(int64_t bytes) { return llvm::alignTo(bytes, plan::alignment); }

} // namespace weir

#endif
