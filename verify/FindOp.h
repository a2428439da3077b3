//===- FindOp.h - Which op of a kernel makes what is not finite -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a kernel's meaning on what the kernel is about to read, one op after the other, each
// rounded to its type: what f32 or f16 does not hold is infinite. From the results that are not
// finite, and from what is asked is_finite, it follows what is not finite back to the first op that
// makes some of operands that are; an infinite constant makes nothing. The same rule as between
// actions (runtime/nan_trace/Flow.h), within one.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_FINDOP_H
#define WEIR_VERIFY_FINDOP_H

#include "ir/plan/PlanDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/core/Program.h"
#include "runtime/nan_trace/OpFinder.h"

namespace weir {

/// Finds ops of the actions of `program`. `plan` is what it was made of, offsets included
/// (codegen/artifact/Reader.h). Both outlive it.
std::unique_ptr<OpFinder> findOps(const Program &program, mlir::ModuleOp plan);

} // namespace weir

#endif
