//===- Shrink.h - The small program behind a failure ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_SHRINK_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_SHRINK_H

#include "ir/weir/WeirDialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace weir::smith {

/// Takes away entries, results, writes, rounds, sources and ops (an operand of the same type or a
/// constant takes an op's place) as long as `stillFails` holds for what is left; asks it at most
/// `budget` times.
mlir::OwningOpRef<mlir::ModuleOp>
shrink(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> stillFails, int budget);

} // namespace weir::smith

#endif
