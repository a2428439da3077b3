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

/// The actions of a block whose buffers have no places yet, and what each must stay behind: who
/// writes what it touches, and who touches what it writes. A memory is taken whole. What queues
/// tell each other stays where it is.
struct Dependences {
  explicit Dependences(mlir::Block &block);

  /// What an action touches: a plan.alloc, or a variable's name.
  using Memory = const void *;

  struct Node {
    mlir::Operation *op;
    llvm::SmallVector<unsigned, 4> behind; ///< numbers of others, all smaller; rising
    llvm::SmallVector<Memory, 4> touches;  ///< each once
    bool hasCollectives = false;           ///< is one, or has one in its loop
    /// Depends on nothing but what is there at the block's beginning, whatever the batch.
    bool ofVariables = true;
  };
  std::vector<Node> nodes;                  ///< in the block's order
  llvm::DenseMap<Memory, int64_t> sizes;    ///< of the block's own scratch, but ports
  llvm::DenseMap<Memory, unsigned> touched; ///< of these, by how many nodes
};

} // namespace weir

#endif
