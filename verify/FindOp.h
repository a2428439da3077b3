//===- FindOp.h - Finds the op of a kernel that produces a NaN ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interprets a kernel's ops on the values that the kernel is about to read, one op after the other,
// each rounded to its type: a value beyond f32 or f16 becomes infinite. From the results that are
// not finite, and the operands of is_finite, it goes back to the first op that computes such a
// value from finite operands. An infinite constant does not count. The rule is the same as between
// actions (runtime/nan_trace/Flow.h), applied within one action.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_FINDOP_H
#define WEIR_VERIFY_FINDOP_H

#include "ir/plan/PlanDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/core/Program.h"
#include "runtime/nan_trace/OpFinder.h"

namespace weir {

/// Finds ops of the actions of `program`. `plan` is what it was made from, with offsets
/// (codegen/artifact/Reader.h). Both must outlive it.
std::unique_ptr<OpFinder> findOps(const Program &program, mlir::ModuleOp plan);

} // namespace weir

#endif
