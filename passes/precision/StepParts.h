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

/// What is computed of the gradients, or for the update alone, and no gradient is computed from: a
/// bias's gradient may be a part of another's.
OpSet optimizerOf(mlir::func::FuncOp entry, mlir::ValueRange gradients);

/// The products that gradients are, or are put together of: sums, slices in their places, and parts
/// side by side. Also those of a batch that are added up and nothing else uses. No `forward` ones,
/// which a gradient may be a multiple of.
OpSet productsOf(mlir::ValueRange gradients, const llvm::DenseSet<mlir::Value> &forward);

/// The composites that the op is a gradient of: it reads what they read, and their statistics.
llvm::SmallSetVector<mlir::Operation *, 1> compositesBefore(mlir::Operation *op);

/// What the entry gives, what it writes but for the update, and the statistics of the composites
/// that `composites` are gradients of are computed from these values.
llvm::DenseSet<mlir::Value> forwardOf(mlir::func::FuncOp entry, mlir::ValueRange gradients,
                                      llvm::ArrayRef<mlir::Operation *> composites);

} // namespace weir

#endif
