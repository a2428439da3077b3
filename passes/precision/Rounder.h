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

/// What each cast that was made rounds: "what a product multiplies".
using Rounded = llvm::DenseMap<mlir::Operation *, llvm::StringRef>;

/// Rounds values to one type, each once.
class Rounder {
public:
  /// Adds to `made` what it rounds.
  Rounder(mlir::Type low, Rounded &made) : low(low), builder(low.getContext()), made(made) {}

  /// The value in low precision, where it is defined. What moves it is done with what it was
  /// rounded to.
  mlir::Value rounded(mlir::Value value, llvm::StringRef what);

  /// The same as an f32 again, for what computes with it.
  mlir::Value widened(mlir::Value value, llvm::StringRef what);

  /// Makes all that use the value use what it is rounded to.
  void round(mlir::Value value, llvm::StringRef what);

  /// What nothing but the casts and sums use is summed up as it was rounded: it need not be in
  /// memory as it was. But for `forward` values: what uses them hangs on which entry it is, and
  /// evaluation has the numbers of the step.
  void roundForSums(const llvm::DenseSet<mlir::Value> &forward);

private:
  mlir::Type low;
  mlir::OpBuilder builder;
  Rounded &made;
  llvm::MapVector<mlir::Value, mlir::Value> lows; ///< in the order in which they are made
  llvm::DenseMap<mlir::Value, mlir::Value> wides;
};

} // namespace weir

#endif
