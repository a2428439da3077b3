//===- Dependences.h - Dependences between actions ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_COLLECTIVES_DEPENDENCES_H
#define WEIR_PASSES_COLLECTIVES_DEPENDENCES_H

#include "ir/plan/PlanDialect.h"

namespace weir {

/// The actions of a block whose buffers have no offsets yet, and their dependences: an action
/// follows the writers of what it accesses, and the accesses to what it writes. Each buffer or
/// variable counts as a whole. Records and waits of events stay in their place.
struct Dependences {
  explicit Dependences(mlir::Block &block);

  /// A buffer or variable that an action accesses: a plan.alloc, or a variable's name.
  using Memory = const void *;

  struct Node {
    mlir::Operation *op;
    llvm::SmallVector<unsigned, 4> behind; ///< numbers of its dependences, all smaller; ascending
    llvm::SmallVector<Memory, 4> touches;  ///< each once
    bool hasCollectives = false;           ///< it is a collective, or a loop that contains one
    /// Depends only on what exists at the block's beginning, and not on the batch.
    bool ofVariables = true;
  };
  std::vector<Node> nodes;                  ///< in the block's order
  llvm::DenseMap<Memory, int64_t> sizes;    ///< of the block's own scratch buffers, without ports
  llvm::DenseMap<Memory, unsigned> touched; ///< by how many nodes each of these is accessed
};

} // namespace weir

#endif
