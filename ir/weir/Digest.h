//===- Digest.h - What an entry computes, as a number ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two programs of equal parameters may compute different things. A digest tells them apart without
// keeping the program: of the ops that the roots are computed by, with their attributes and types,
// down to the names of the variables and inputs that are read. Locations, the order of ops that do
// not depend on each other, and what no root depends on are no part of it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_DIGEST_H
#define WEIR_IR_WEIR_DIGEST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weir {

/// Of what the entry leaves in variables. Outputs, such as metrics and gradients, are no part.
uint64_t digestOfWrites(mlir::func::FuncOp entry);

/// Of the entry's results.
uint64_t digestOfResults(mlir::func::FuncOp entry);

/// Sets the module attributes weir.training_digest (of @step's writes) and weir.predict_digest (of
/// @predict's results), i64, for the entries that there are. The module is as the frontend makes
/// it: later passes say the same in other ops.
void setDigests(mlir::ModuleOp module);

} // namespace weir

#endif
