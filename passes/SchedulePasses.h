//===- SchedulePasses.h - The passes of passes/schedule -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated from SchedulePasses.td, as Passes.h is from Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SCHEDULEPASSES_H
#define WEIR_PASSES_SCHEDULEPASSES_H

#include "codegen/Target.h"
#include "ir/plan/PlanDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "runtime/base/Link.h"

namespace weir {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/SchedulePasses.h.inc"

/// For the target of a compile, which keeps what is planned until it is compiled.
std::unique_ptr<mlir::Pass> createOverlapCollectives(std::shared_ptr<Target> target, int64_t budget,
                                                     int64_t threads, const Link &link);

} // namespace weir

#endif
