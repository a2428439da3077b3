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

/// What the entries of a program take, once their kernels are known.
struct MemoryReport {
  int64_t bytes = 0;      ///< of a run (passes/memory/Reserve.h); of what does not fit, at least
  double seconds = 0;     ///< of a step, estimated
  bool fits = true;       ///< in the budget
  int64_t persistent = 0; ///< bytes that no choice changes: variables, what threads need
  int64_t ofThread = 0;   ///< of them, what each thread needs
  int64_t parameters = 0, optimizer = 0; ///< of them, what may lie with the host instead
  bool explained = true;                 ///< whether an error says what would fit: set by who asks
};

struct PipelineOptions {
  std::shared_ptr<Target> target = nullptr;
  /// Becomes the module's (ir/weir/Strategy.h), where passes read it.
  Strategy strategy = {};
  MemoryReport *memoryReport = nullptr; ///< is filled, unless null
  int64_t rank = 0;                     ///< of the mesh, whose sizes the program gets
  bool alike = true; ///< all ranks have this program, so it may order what they exchange
  /// Plans of other ranks, which get code with this one's.
  llvm::ArrayRef<mlir::ModuleOp> others = {};
  llvm::ArrayRef<llvm::StringRef> without = {}; ///< names of optional passes to leave out
  /// Sees the pass manager of every pass group before it runs.
  std::function<void(mlir::PassManager &)> watch = nullptr;
  /// Sees the program after every pass group; of a mesh, the program of each rank that is lowered.
  std::function<void(llvm::StringRef group, mlir::ModuleOp)> afterPassGroup = nullptr;
  /// Sees the kernels' code on its way (codegen/Target.h).
  DumpKernels dumpKernels = nullptr;
  /// The times of pass groups and passes are nested here, unless null.
  mlir::TimingScope *time = nullptr;
};

/// A pass at its place in the compile.
struct PipelinePass {
  llvm::StringRef name; ///< tells the places apart where a pass stands in several
  bool optional;        ///< the program compiles, to the same results, without it
  void (*add)(mlir::OpPassManager &, const PipelineOptions &);
  /// The program computes other numbers behind it, on purpose.
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

/// Those behind which a program still has values and no buffers: the interpreter of weir IR runs
/// what they leave. The groups after them are "plan" and "generate".
llvm::ArrayRef<PassGroup> passGroupsOnTensors();

/// Below so many bytes a transfer costs more than they are worth.
constexpr int64_t smallestOffloaded = 1024;

/// Sets the strategy of a module, where passes read it, and what follows from it for whoever writes
/// the artifact. Whatever runs passes of the pipeline does it first, as runPassGroups() and
/// runPass() do.
void attachStrategy(mlir::ModuleOp module, const Strategy &strategy);

/// Runs the pass groups up to the one named `last`, from the one named `first` on, or from the
/// start. What that leaves is verified.
mlir::LogicalResult runPassGroups(mlir::ModuleOp module, const PipelineOptions &options,
                                  llvm::StringRef last, llvm::StringRef first = "");

/// The plans of these ranks, of a program whose layouts are known: after the pass group "layouts".
/// Ranks that differ in their stage alone are partitioned together.
mlir::FailureOr<std::vector<mlir::OwningOpRef<mlir::ModuleOp>>>
planRanks(mlir::ModuleOp module, llvm::ArrayRef<int64_t> ranks, PipelineOptions options);

/// Runs the pass of this name, which is in the pipeline.
mlir::LogicalResult runPass(llvm::StringRef name, mlir::ModuleOp module,
                            const PipelineOptions &options);

/// An artifact's bytes from what the frontend makes: every pass group, and the writer; of a mesh,
/// for all ranks, those with the same sizes once. The module is consumed: it is a plan with its
/// code afterwards, of a mesh that of rank 0. Failure comes with a diagnostic.
mlir::FailureOr<std::vector<std::byte>> compile(mlir::ModuleOp module,
                                                const PipelineOptions &options);

} // namespace weir

#endif
