//===- Stripes.h - Causal attention of striped queries --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of n ranks, rank i holds the queries i, n + i, 2 n + i, ..., and reads all keys. So all ranks do
// equal work under a causal mask (Brandon et al., "Striped attention: Faster ring attention for
// causal transformers", 2023). With the stripe s of keys, its queries form a causal attention of
// their own; but where s > i, a query does not see the key at its own index. The results of all
// stripes of keys are combined by their log-sum-exps, in the order of stripes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_STRIPES_H
#define WEIR_PASSES_SHARDING_STRIPES_H

#include "ir/weir/WeirDialect.h"

namespace weir::sharding {

/// Whether it is attention whose queries can only be sharded as stripes.
bool needsStripes(mlir::Operation *op);

/// The results, of these types, of causal attention (or its gradient) for stripe `number` of
/// `count`. The operands are the stripe's queries, and all keys and values, as many as all queries
/// together. Gradients of keys and values are those of the stripe's queries only.
llvm::SmallVector<mlir::Value> attentionInStripes(mlir::OpBuilder &builder, mlir::Operation *op,
                                                  mlir::ValueRange operands, mlir::TypeRange types,
                                                  mlir::Value number, int64_t count);

/// The same if keys and values are sharded as queries are, and pass from rank to rank along the
/// axis with their gradients (Liu et al., "Ring attention with blockwise transformers for
/// near-infinite context", 2023): a rank holds one shard of the keys at a time. Operands and
/// results are this rank's shards. With `number`, queries and keys are stripes and causal; without
/// it, every query attends to all keys.
llvm::SmallVector<mlir::Value> attentionInRing(mlir::OpBuilder &builder, mlir::Operation *op,
                                               mlir::ValueRange operands, mlir::TypeRange types,
                                               mlir::Value number, llvm::StringRef axis,
                                               int64_t count);

} // namespace weir::sharding

#endif
