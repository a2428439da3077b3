//===- PlanDialect.h - The plan dialect -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime executes, as IR; PlanOps.td describes it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_PLAN_PLANDIALECT_H
#define WEIR_IR_PLAN_PLANDIALECT_H

#include "ir/weir/WeirDialect.h"

#include "ir/plan/PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/plan/PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/plan/PlanOps.h.inc"

namespace weir::plan {

/// The memory behind a buffer value: a plan.alloc or plan.use, and where in it the value begins.
struct Place {
  mlir::Operation *memory;
  int64_t offset = 0;
  int64_t stride = 0; ///< further bytes per round of the enclosing repeat
};
Place placeOf(mlir::Value buffer);

/// A launch's location: those of the ops of its kernel's meaning, in order. Equal ones are kept
/// once; which op has which, -1 for an unknown one, is the fused location's metadata, so that it
/// survives printing.
mlir::Location locationOfOps(mlir::MLIRContext *context, llvm::ArrayRef<mlir::Location> ops);

/// The inverse, for a location that locationOfOps() made of `count` ops; else `loc` for each of
/// them.
llvm::SmallVector<mlir::Location> locationsOfOps(mlir::Location loc, size_t count);

/// Where the variables, then every entry's scratch, begin: multiples of this many bytes.
constexpr int64_t alignment = 64;

} // namespace weir::plan

#endif
