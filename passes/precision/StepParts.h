//===- StepParts.h - Forward, gradient and optimizer parts of a step ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After autodiff, a step is one program. This file derives from uses which ops belong to the
// forward pass, to the gradients and to the optimizer. It treats the body of microbatches as if it
// stood outside.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_STEPPARTS_H
#define WEIR_PASSES_PRECISION_STEPPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace weir {

using OpSet = llvm::DenseSet<mlir::Operation *>;

/// Whether the op is a product, by its Castable answer.
bool multiplies(mlir::Operation *op);

/// The ops that are computed from the gradients, or only for the update, and that no gradient
/// depends on: a bias's gradient may be a part of another's.
OpSet optimizerOf(mlir::func::FuncOp entry, mlir::ValueRange gradients);

/// The products that are gradients, or parts of gradients: terms of sums, slices in their places,
/// and parts of concatenations. Also batched products that are summed and have no other use. No
/// `forward` ones, of which a gradient may be a multiple.
OpSet productsOf(mlir::ValueRange gradients, const llvm::DenseSet<mlir::Value> &forward);

/// The composites of which the op is a gradient: it reads their operands, and their statistics.
llvm::SmallSetVector<mlir::Operation *, 1> compositesBefore(mlir::Operation *op);

/// The values from which these are computed: the entry's results, its writes except updates, and
/// the statistics of the composites whose gradients are in `composites`.
llvm::DenseSet<mlir::Value> forwardOf(mlir::func::FuncOp entry, mlir::ValueRange gradients,
                                      llvm::ArrayRef<mlir::Operation *> composites);

} // namespace weir

#endif
