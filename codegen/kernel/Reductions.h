//===- Reductions.h - Combining partial results --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_REDUCTIONS_H
#define WEIR_CODEGEN_KERNEL_REDUCTIONS_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// A reduction's neutral element, a vector of them where there are several lanes, and the
/// combination of two of its partial results.
mlir::Value neutralOf(mlir::OpBuilder &builder, mlir::Location loc, Reduction kind, mlir::Type type,
                      int64_t lanes = 1);
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc, Reduction kind, mlir::Value a,
                    mlir::Value b);

/// Whether its result depends on the order of what it combines: a sum of floats.
bool dependsOnOrder(Reduction kind, mlir::Type type);

} // namespace weir

#endif
