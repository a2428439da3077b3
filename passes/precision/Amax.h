//===- Amax.h - History of the largest magnitudes of tensors --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The largest magnitude of a tensor is known only when the whole tensor is computed, so scaling by
// it would read the tensor again. With delayed scaling, a step uses the largest magnitudes of the
// steps before it instead:
//
//   %a = weir.read @"f8/amax" : [n, 16]           a row for each tensor, of the last 16 steps
//   %m = the largest of each row
//   scale of tensor i = of %m[i], or a constant if there is no history yet
//   ..
//   weir.write @"f8/amax", %a with the largest magnitudes of this step in column step mod 16
//
// The step writes this variable as it writes its others, so a skipped step leaves it as it was.
// Cotangents are multiplied by the loss scale. The history records them without it, so the loss
// scale, its first value and its changes do not affect the history.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_AMAX_H
#define WEIR_PASSES_PRECISION_AMAX_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace weir {

class Amax {
public:
  /// For one tensor of each of these types, at the beginning of @step; equal types must be
  /// adjacent. Declares the variable.
  Amax(mlir::func::FuncOp step, llvm::ArrayRef<mlir::Type> types);

  /// Whether the entry is a step of a program that counts its steps.
  static bool serves(mlir::func::FuncOp entry);

  /// f32[1]: the scale by which tensor i is multiplied before rounding, and its inverse.
  std::pair<mlir::Value, mlir::Value> scales(mlir::OpBuilder &builder, mlir::Location place,
                                             unsigned i) const;

  /// Records the magnitude of this step: an f32 scalar, zero or more.
  void note(unsigned i, mlir::Value largest) { largests[i] = largest; }

  /// Writes the history, at the end of @step, from what was recorded for each tensor.
  void write();

  const llvm::DenseSet<mlir::Operation *> &work() const { return made; }

private:
  mlir::func::FuncOp step;
  mlir::Value before, scale, inverse;
  mlir::Value times; ///< f32[n]: the factor by which each tensor is multiplied already; null: 1
  llvm::SmallVector<mlir::Value> largests;
  llvm::DenseSet<mlir::Operation *> made;
};

} // namespace weir

#endif
