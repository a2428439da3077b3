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

/// A reduction's neutral element and the combination of two of its partial results.
mlir::Value neutralOf(mlir::OpBuilder &builder, mlir::Location loc, Reduction kind,
                      mlir::Type type);
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc, Reduction kind, mlir::Value a,
                    mlir::Value b);

} // namespace weir

#endif
