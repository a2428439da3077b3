//===- Verification.h - State that the checks of a verification share -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_VERIFICATION_H
#define WEIR_VERIFY_VERIFICATION_H

#include "codegen/targets/Targets.h"
#include "ir/weir/RankPrograms.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Pipeline.h"
#include "verify/Blame.h"
#include "verify/Cost.h"
#include "verify/Outcome.h"
#include "verify/Verify.h"

namespace weir {

struct Verification {
  /// `module` is the frontend's, with named ports; the passes change it. Both arguments must
  /// outlive this.
  Verification(mlir::ModuleOp module, const VerifyOptions &options)
      : module(module), options(options), cost(verifyCost(module, options.full)), results(module),
        pipeline{.target = makeTarget(options.target),
                 .strategy = options.strategy,
                 .dumpKernels = tampering()},
        mesh(options.strategy.mesh) {}

  mlir::ModuleOp module; ///< whole, also after partitioning
  const VerifyOptions &options;
  const VerifyCost cost;
  Results results;
  const PipelineOptions pipeline;
  VerifyReport found;

  /// On a mesh, after weir-partition: the programs of its ranks, and which rank runs which.
  const Mesh &mesh;
  RankPrograms ranks;
  bool isCut() const { return !parts.empty(); }
  /// The modules that passes change now: the module, or the ranks' programs.
  llvm::SmallVector<mlir::ModuleOp> programs() const;
  /// Runs a pass of the pipeline on them, on a mesh also weir-partition, and tampers for tests.
  mlir::LogicalResult run(llvm::StringRef pass);
  /// Removes the attributes with which weir-partition describes values for comparison.
  void forgetLayouts() const;
  /// Proves that programs or plans of ranks match; reports it if they do not.
  void prove(llvm::StringRef pass, llvm::ArrayRef<mlir::ModuleOp> programs);
  /// Runs them on the interpreter. Fails, with a report, if their communication does not match.
  mlir::FailureOr<Outcome> runRanks(llvm::StringRef pass, llvm::ArrayRef<mlir::ModuleOp> programs,
                                    const RandomInputs &feed, bool offsets, Wanted wanted);

  /// Whether the verification is over: a check that finds a fault ends it.
  bool ended() const { return found.fault || !found.unverifiable.empty(); }

  /// The place where a fault shows first.
  struct Named {
    std::string op, place, why;
  };
  static std::optional<Named> named(const std::optional<Blame> &blame);
  /// The fault that ends the verification: `result` differs after `pass`; `detail` says how.
  void report(llvm::StringRef pass, const std::string &result, const std::optional<Named> &first,
              const std::string &detail);

  // What the options ask to be called.
  void tamper(llvm::StringRef pass, mlir::ModuleOp changed) const;
  /// Tampers with emitted kernels, in tests; null otherwise.
  DumpKernels tampering() const;
  void progress(llvm::StringRef stage, const std::string &text) const;
  void worked(double seconds) const;

private:
  mlir::LogicalResult cut();
  std::string apart; ///< RankInterpreter::apart of the first form

  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> parts;
};

} // namespace weir

#endif
