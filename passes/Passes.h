//===- Passes.h - Every pass's constructor and registration ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated from Passes.td: create<Name>() for each pass, its options as <Name>Options, and its
// flag.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PASSES_H
#define WEIR_PASSES_PASSES_H

#include "codegen/Target.h"
#include "ir/plan/PlanDialect.h"
#include "ir/weir/WeirDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

namespace weir {

/// Sets weir.strategy of a module: --weir-strategy.
std::unique_ptr<mlir::Pass> createStrategy();

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// For the target of a compile, which keeps the planned kernels until it compiles them.
std::unique_ptr<mlir::Pass> createNativeFP8Products(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createVerifySizes(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createUpcastUnsupported(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createFuse(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createBatchKernels(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createOrderKernels(std::shared_ptr<Target> target);
struct MemoryReport;
/// Fills `report`, unless it is null (Pipeline.h).
std::unique_ptr<mlir::Pass> createRematerialize(std::shared_ptr<Target> target,
                                                MemoryReport *report);
std::unique_ptr<mlir::Pass> createLowerToPlan(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createOverlapTransfers(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createOverlapCollectives(std::shared_ptr<Target> target);
/// `dump` sees the code at each step of its compile. The steps are nested in `time`, unless it is
/// null. `others` are plans for the same target that share the code with this one; it contains the
/// kernels of all plans, and those of `others` are renamed.
std::unique_ptr<mlir::Pass> createCompileKernels(std::shared_ptr<Target> target, DumpKernels dump,
                                                 mlir::TimingScope *time,
                                                 llvm::ArrayRef<mlir::ModuleOp> others = {});

/// Makes every pass known to command lines and textual pipelines.
inline void registerPasses() { registerWeirPasses(); }

} // namespace weir

#endif
