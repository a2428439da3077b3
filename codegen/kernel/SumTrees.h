//===- SumTrees.h - Sums of many values as trees --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adding n floats one after the other loses digits in proportion to n: in f32, 2^24 ones and one
// more are 2^24. So a sum adds at most `mostInSequence` values in sequence, then as many of such
// sums, and so on: the error grows with the number of levels (Higham, "Accuracy and Stability of
// Numerical Algorithms", 2002, section 4.2).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_SUMTREES_H
#define WEIR_CODEGEN_KERNEL_SUMTREES_H

#include "mlir/IR/Operation.h"

namespace weir {

/// No sum of floats adds more values in sequence.
constexpr int64_t mostInSequence = 128;

/// How many levels of sums there are below the sum of `count` values: 0 for a single sequence.
int levelsBelow(int64_t count);

/// How many values a sum of a level adds up, through those below it.
inline int64_t valuesOfLevel(int level) {
  return level == 0 ? 1 : mostInSequence * valuesOfLevel(level - 1);
}

/// Makes trees of the sums of floats that scf.for loops in `root` carry. A loop that may run
/// too often is split into a loop over chunks and a loop over the iterations of a chunk, whose sums
/// begin at 0; nested loops that carry one sum count together. Shorter loops, and whatever else a
/// loop carries, stay as they are.
void sumInTrees(mlir::Operation *root);

} // namespace weir

#endif
