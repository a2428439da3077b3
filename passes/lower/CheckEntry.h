//===- CheckEntry.h - Whether an entry can be planned ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_LOWER_CHECKENTRY_H
#define WEIR_PASSES_LOWER_CHECKENTRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weir {

/// What an entry takes and returns may have passed through no op of the dialect, and what is known
/// of it through no frontend.
mlir::LogicalResult checkEntry(mlir::func::FuncOp function);

} // namespace weir

#endif
