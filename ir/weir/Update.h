//===- Update.h - What of a program is the update of its parameters -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_UPDATE_H
#define WEIR_IR_WEIR_UPDATE_H

#include "ir/weir/WeirDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace weir {

/// Whether it writes what the forward computation does not: all but states.
bool isUpdate(WriteOp write);

/// Ahead of autodiff: what a function computes for more than its update, and whether that is
/// finite: for its results, its gradients, what it writes to states.
llvm::DenseSet<mlir::Operation *> opsBesideUpdate(mlir::func::FuncOp function);

} // namespace weir

#endif
