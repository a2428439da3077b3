//===- Rounder.h - Rounds values to low precision -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_ROUNDER_H
#define WEIR_PASSES_PRECISION_ROUNDER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace weir {

/// What each inserted cast rounds: "what a product multiplies".
using Rounded = llvm::DenseMap<mlir::Operation *, llvm::StringRef>;

/// Rounds values to one type, each once.
class Rounder {
public:
  /// Adds to `made` what it rounds.
  Rounder(mlir::Type low, Rounded &made) : low(low), builder(low.getContext()), made(made) {}

  /// The value in low precision, rounded where it is defined. Views of the value are rebuilt on the
  /// rounded one.
  mlir::Value rounded(mlir::Value value, llvm::StringRef what);

  /// The same, widened to f32 again, for ops that compute with it.
  mlir::Value widened(mlir::Value value, llvm::StringRef what);

  /// Makes all uses of the value use the rounded one.
  void round(mlir::Value value, llvm::StringRef what);

  /// If only casts and sums use a value, the sums read the rounded value, so that the wide one need
  /// not be in memory. Except `forward` values: their uses depend on the entry, and evaluation must
  /// compute the numbers of the step.
  void roundForSums(const llvm::DenseSet<mlir::Value> &forward);

private:
  mlir::Type low;
  mlir::OpBuilder builder;
  Rounded &made;
  llvm::MapVector<mlir::Value, mlir::Value> lows; ///< in the order of creation
  llvm::DenseMap<mlir::Value, mlir::Value> wides;
};

} // namespace weir

#endif
