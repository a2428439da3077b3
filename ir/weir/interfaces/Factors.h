//===- Factors.h - An op's dimensions in one line -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the dimensions of an op's operands and results hang together, as a line of its definition:
//
//   table: v# *r, indices: *i -> result: *i *r
//
// Each operand and result by its name, and its dimensions in order: a letter is a factor, `*r` any
// number of them. Where a letter stands twice the sizes are equal, and shards of one go with shards
// of the other. A letter that no result has is summed over; of `c&` the op itself makes one of what
// shards give. In `v#` integers of an operand count (`c&#` is both). `v!` must not be cut, and `y~`
// neither unless they count in it: it is no loop of its own besides, as the places of an image,
// which follow from those of a window and of a result. From that line come the op's shards, its
// result types, the shapes that its verifier expects, and how many points its cost counts.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_FACTORS_H
#define WEIR_IR_WEIR_INTERFACES_FACTORS_H

#include "ir/weir/Shapes.h"

namespace weir {

ShardRule ruleOf(mlir::Operation *op, llvm::StringRef factors);

/// Appends the types of the results, with the first operand's element type. Every letter of a
/// result is one of an operand's.
mlir::LogicalResult inferByFactors(llvm::StringRef factors, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Emits an error of `op` unless the shapes of all operands and results are such. Its first operand
/// has one dimension at least for each letter.
mlir::LogicalResult expectFactors(mlir::Operation *op, llvm::StringRef factors);

} // namespace weir

#endif
