//===- Scalars.h - Scalars of a step, and tensors built from them ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_RECIPE_SCALARS_H
#define WEIR_PASSES_RECIPE_SCALARS_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// An f32 constant without dimensions.
mlir::Value scalar(mlir::OpBuilder &builder, mlir::Location place, double value);

/// The scalar in every element of a tensor of that shape.
mlir::Value spread(mlir::OpBuilder &builder, mlir::Location place, mlir::Value scalar,
                   llvm::ArrayRef<int64_t> shape);

/// The sum of a tensor's elements, in one reduction.
mlir::Value sumOfAll(mlir::OpBuilder &builder, mlir::Location place, mlir::Value tensor);

} // namespace weir

#endif
