//===- Rules.h - What rules of ops are made of ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an op may be cast, how it may be cut into shards and what it costs is said in its family's
// folder; these are the words for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_RULES_H
#define WEIR_IR_WEIR_RULES_H

#include "ir/weir/Shapes.h"

namespace weir {

/// Values that are multiplied, moved or compared may be low; statistics (means, log-sum-exps,
/// losses) and sums may not, since a small term would vanish beside them: every float but the
/// operands and results named by position.
CastRule floatsBut(mlir::Operation *op, bool accumulates, llvm::ArrayRef<unsigned> operands,
                   llvm::ArrayRef<unsigned> results);
CastRule floats(mlir::Operation *op, bool accumulates = false);

/// An elementwise operation counts one for each element, whatever it is; a product of matrices two
/// for each multiplication. Layout ops move bytes only. Bytes are those of operands and results,
/// each once.
Cost costOf(mlir::Operation *op, int64_t flops);
/// The bytes that are touched of ops that read a part of an operand.
Cost copyCost(mlir::Value result);
int64_t elements(mlir::Value value);

using Kind = Factor::Kind;
using Dimensions = llvm::SmallVector<ShardRule::Dimension>;
using Factors = llvm::SmallVector<unsigned>;

/// Collects factors, and the dimensions of operands and results in order.
struct Rule {
  ShardRule rule;

  unsigned factor(int64_t size, Kind kind = Kind::parallel);
  /// One factor for each size.
  Factors factors(llvm::ArrayRef<int64_t> sizes, Kind kind = Kind::parallel);
  static Dimensions dimensions(llvm::ArrayRef<unsigned> factors);
  Rule &operand(Dimensions dimensions);
  Rule &operand(llvm::ArrayRef<unsigned> factors) { return operand(dimensions(factors)); }
  Rule &result(Dimensions dimensions);
  Rule &result(llvm::ArrayRef<unsigned> factors) { return result(dimensions(factors)); }
};

Factors joined(llvm::ArrayRef<unsigned> first, llvm::ArrayRef<unsigned> second);

} // namespace weir

#endif
