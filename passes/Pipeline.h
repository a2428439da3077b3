//===- Pipeline.h - The compile, pass by pass -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PIPELINE_H
#define WEIR_PASSES_PIPELINE_H

#include "codegen/Target.h"
#include "mlir/Pass/PassManager.h"
#include "strategy/Strategy.h"

#include <functional>

namespace weir {

/// Memory and time of a program's entries, once their kernels are known.
struct MemoryReport {
  int64_t bytes = 0;      ///< of a run (passes/memory/Reserve.h); a lower bound if it does not fit
  double seconds = 0;     ///< of a step, estimated
  bool fits = true;       ///< in the budget
  int64_t persistent = 0; ///< bytes that no choice changes: variables and per-thread scratch
  int64_t ofThread = 0;   ///< of those, the scratch of one thread
  int64_t parameters = 0, optimizer = 0; ///< of those, bytes that may be offloaded
  bool explained = true;                 ///< input: whether an error says what would fit
};

struct PipelineOptions {
  std::shared_ptr<Target> target = nullptr;
  /// The strategy of the module (ir/weir/Strategy.h), where passes read it.
  Strategy strategy = {};
  MemoryReport *memoryReport = nullptr; ///< output, unless null
  int64_t rank = 0;                     ///< the rank of the mesh whose program to make
  /// Plans of other ranks, which share the code of this one.
  llvm::ArrayRef<mlir::ModuleOp> others = {};
  llvm::ArrayRef<llvm::StringRef> without = {}; ///< names of optional passes to leave out
  /// Called with the pass manager of every pass group before it runs.
  std::function<void(mlir::PassManager &)> watch = nullptr;
  /// Called with the program after every pass group; on a mesh, with the program of each rank that
  /// is lowered.
  std::function<void(llvm::StringRef group, mlir::ModuleOp)> afterPassGroup = nullptr;
  /// Called with the kernels' code as it is compiled (codegen/Target.h).
  DumpKernels dumpKernels = nullptr;
  /// The times of pass groups and passes are nested here, unless it is null.
  mlir::TimingScope *time = nullptr;
};

/// A pass at its place in the compile.
struct PipelinePass {
  llvm::StringRef name; ///< unique, also if a pass runs in several places
  bool optional;        ///< without it, the program compiles, and computes the same results
  void (*add)(mlir::OpPassManager &, const PipelineOptions &);
  /// After it, the program computes different numbers, on purpose.
  bool changesNumbers = false;
};

/// Consecutive passes of the compile, under a name that `--stop-after` takes.
struct PassGroup {
  llvm::StringRef name;
  llvm::StringRef summary;
  llvm::ArrayRef<PipelinePass> passes;

  void add(mlir::OpPassManager &manager, const PipelineOptions &options) const;
};

/// Every group, in order. The frontend runs before them; the artifact is written after them.
llvm::ArrayRef<PassGroup> passGroups();

/// The pass groups after which a program still has tensors and no buffers, so that the interpreter
/// of weir IR can run it. The pass groups after them are "plan" and "generate".
llvm::ArrayRef<PassGroup> passGroupsOnTensors();

/// Sets the strategy of a module, where passes read it, and the attributes that follow from it for
/// the artifact's writer. Every caller that runs passes of the pipeline does this first, as
/// runPassGroups() and runPass() do.
void attachStrategy(mlir::ModuleOp module, const Strategy &strategy);

/// Runs the pass groups up to the one named `last`, from the one named `first`, or from the start.
/// Verifies the result.
mlir::LogicalResult runPassGroups(mlir::ModuleOp module, const PipelineOptions &options,
                                  llvm::StringRef last, llvm::StringRef first = "");

/// The plans of these ranks, from a program whose shardings are known: after the pass group
/// "layouts". Ranks that differ only in their stage are partitioned together.
mlir::FailureOr<std::vector<mlir::OwningOpRef<mlir::ModuleOp>>>
planRanks(mlir::ModuleOp module, llvm::ArrayRef<int64_t> ranks, PipelineOptions options);

/// Runs the pass of this name, which must be in the pipeline.
mlir::LogicalResult runPass(llvm::StringRef name, mlir::ModuleOp module,
                            const PipelineOptions &options);

/// The bytes of an artifact from the frontend's module: runs every pass group, and the writer. On a
/// mesh, for all ranks, once for those with the same sizes. Consumes the module: afterwards it is a
/// plan with its code, on a mesh that of rank 0. Failure comes with a diagnostic.
mlir::FailureOr<std::vector<std::byte>> compile(mlir::ModuleOp module,
                                                const PipelineOptions &options);

} // namespace weir

#endif
