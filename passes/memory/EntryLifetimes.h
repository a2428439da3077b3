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

/// The lifetimes of an entry's buffers in the current order of actions. A buffer that another queue
/// than 0 accesses stays alive until queue 0 has waited for that access. So the next buffer at its
/// offset comes after it.
class EntryLifetimes {
public:
  explicit EntryLifetimes(plan::EntryOp entry);

  /// By plan.alloc with uses. Sizes are multiples of 64.
  const llvm::MapVector<mlir::Operation *, Lifetime> &all() const { return lifetimes; }

  int64_t actions() const { return count; }
  /// The number of an action.
  int64_t numberOf(mlir::Operation *action) const { return numbers.at(action); }

  /// Assigns offsets from `base` on to the buffers of a space.
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
  /// By block and queue: where events are recorded on it, and where queue 0 first waits for each
  /// after that, in the same block.
  llvm::DenseMap<std::pair<mlir::Block *, uint64_t>, llvm::SmallVector<std::pair<int64_t, int64_t>>>
      joins;
};

/// The aligned bytes of a buffer.
inline int64_t alignedBytes(int64_t bytes) { return llvm::alignTo(bytes, plan::alignment); }

} // namespace weir

#endif
