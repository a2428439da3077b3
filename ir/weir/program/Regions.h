//===- Regions.h - What verifiers of ops with a body share ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PROGRAM_REGIONS_H
#define WEIR_IR_WEIR_PROGRAM_REGIONS_H

#include "ir/weir/program/Yield.h"

namespace weir {

/// Whether two lists of types agree; an error at `op` where they do not. `what` names the first
/// list: "block arguments".
mlir::LogicalResult expectTypes(mlir::Operation *op, llvm::StringRef what, mlir::TypeRange types,
                                mlir::TypeRange expected);

/// The weir.yield that ends the only block of an op; null after an error.
YieldOp yieldOf(mlir::Operation *op);

} // namespace weir

#endif
