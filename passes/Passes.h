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

/// For the target of a compile, which keeps what is planned until it is compiled.
std::unique_ptr<mlir::Pass> createNativeFP8Products(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createUpcastUnsupported(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createFuse(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createBatchKernels(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createOrderKernels(std::shared_ptr<Target> target);
struct MemoryReport;
/// `report` is filled, unless null (Pipeline.h).
std::unique_ptr<mlir::Pass> createRematerialize(std::shared_ptr<Target> target,
                                                MemoryReport *report);
std::unique_ptr<mlir::Pass> createLowerToPlan(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createOverlapTransfers(std::shared_ptr<Target> target);
std::unique_ptr<mlir::Pass> createOverlapCollectives(std::shared_ptr<Target> target);
/// `dump` sees the code on its way; the steps it takes are nested in `time`, unless null. `others`
/// are plans for the same target that get the same code, with the kernels of all: theirs take other
/// names.
std::unique_ptr<mlir::Pass> createCompileKernels(std::shared_ptr<Target> target, DumpKernels dump,
                                                 mlir::TimingScope *time,
                                                 llvm::ArrayRef<mlir::ModuleOp> others = {});

/// Makes every pass known to command lines and textual pipelines.
inline void registerPasses() { registerWeirPasses(); }

} // namespace weir

#endif
