//===- Factors.h - An op's dimensions in one line -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op describes its dimensions in one line, in a notation like that of einsum. A product of two
// matrices, einsum's "mk,kn->mn", would be
//
//   left: m k, right: k n -> result: m n
//
// The line names each operand and result, and lists its dimensions in order. A letter is a factor:
// a loop of the op. Dimensions with the same letter have the same size, and are sharded together. A
// letter that no result has, such as k, is summed over; if it is sharded, results are partial. (It
// cannot be sharded if results have no sums, such as booleans.) `*r` stands for any number of
// dimensions. So a gather of rows is
//
//   table: v# *r, indices: *i -> result: *i *r
//
// Marks after a letter, which count where the letter occurs first in the line:
//
//   c&  The op reduces this factor, but not as a sum, as softmax_cross_entropy reduces the classes.
//       It combines the results of shards with its own method (Combining).
//   v#  The integers of an operand are indices into this factor, as a gather's are. On a rank, they
//       count from where its shard begins (Localizable).
//   p!  This factor cannot be sharded.
//   y~  This factor is not a loop of its own, because its index follows from those of other
//       factors. So cost() does not count it. An example is the row of an image in a convolution,
//       which follows from the rows of the window and of the result. It cannot be sharded, unless
//       it has the mark # too.
//
// The op's sharding rule, its result types, the shapes that its verifier expects, and the number of
// points in its cost follow from this line.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_FACTORS_H
#define WEIR_IR_WEIR_INTERFACES_FACTORS_H

#include "ir/weir/Shapes.h"

namespace weir {

ShardRule ruleOf(mlir::Operation *op, llvm::StringRef factors);

/// Appends the types of the results, with the first operand's element type (f32 if that is a
/// low-precision float). Fails if a letter of a result occurs in no operand.
mlir::LogicalResult inferByFactors(llvm::StringRef factors, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Emits an error of `op` if the shape of an operand or result does not match the line. The first
/// operand must have at least one dimension for each of its letters.
mlir::LogicalResult expectFactors(mlir::Operation *op, llvm::StringRef factors);

} // namespace weir

#endif
