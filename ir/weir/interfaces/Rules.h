//===- Rules.h - What rules of ops are made of ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an op may be cast, how it may be cut into shards and what it costs is said in its definition,
// or in its family's folder; these are the words for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_RULES_H
#define WEIR_IR_WEIR_INTERFACES_RULES_H

#include "ir/weir/interfaces/Factors.h"

namespace weir {

/// A rule by which every float may be low but the operands and results named by position.
CastRule floatsBut(mlir::Operation *op, bool accumulates, Multiplies multiplies,
                   llvm::ArrayRef<unsigned> operands, llvm::ArrayRef<unsigned> results);

/// An elementwise operation counts one for each element, whatever it is; a product of matrices two
/// for each multiplication. Layout ops move bytes only. Bytes are those of operands and results,
/// each once.
Cost costOf(mlir::Operation *op, double flops);
/// So many at each point of the factors' loops.
Cost costAt(mlir::Operation *op, const ShardRule &rule, double flops);
/// The bytes that are touched of ops that read a part of an operand.
Cost copyCost(mlir::Value result);
int64_t elements(mlir::Value value);

/// Emits an error of a composite of rows unless its first operand has rows, and elements in them,
/// and its shapes are those of the factors.
mlir::LogicalResult verifyRows(mlir::Operation *op, llvm::StringRef factors);

/// What Localizable asks of an op whose operand `integers` counts in its factor that is counted.
mlir::Operation *localizeCounted(mlir::OpBuilder &builder, Shardable op, mlir::ValueRange operands,
                                 mlir::TypeRange types, Shares &shares, unsigned integers);

using Kind = Factor::Kind;
using Dimensions = llvm::SmallVector<ShardRule::Dimension>;
using Factors = llvm::SmallVector<unsigned>;

/// Collects factors, and the dimensions of operands and results in order, where no line of factors
/// says them (Factors.h).
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

} // namespace weir

#endif
