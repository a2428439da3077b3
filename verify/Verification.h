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
  /// `module` is as the frontend makes it, its entries' ports named; the passes change it. Both
  /// arguments have to outlive this.
  Verification(mlir::ModuleOp module, const VerifyOptions &options)
      : module(module), options(options), cost(verifyCost(module, options.full)), results(module),
        pipeline{.target = makeTarget(options.target),
                 .strategy = options.strategy,
                 .dumpKernels = tampering()},
        mesh(options.strategy.mesh) {}

  mlir::ModuleOp module; ///< whole, also where it has been cut
  const VerifyOptions &options;
  const VerifyCost cost;
  Results results;
  const PipelineOptions pipeline;
  VerifyReport found;

  /// Of a mesh, behind weir-partition: the programs of its ranks, and who runs which.
  const Mesh &mesh;
  RankPrograms ranks;
  bool isCut() const { return !parts.empty(); }
  /// What passes change now: the module, or the ranks' programs.
  llvm::SmallVector<mlir::ModuleOp> programs() const;
  /// Runs a pass of the pipeline on them, of a mesh weir-partition too, and tampers.
  mlir::LogicalResult run(llvm::StringRef pass);
  /// Takes away what weir-partition says of values, which is for who compares them.
  void forgetLayouts() const;
  /// Proves that programs or plans of ranks fit together; reports it where they do not.
  void prove(llvm::StringRef pass, llvm::ArrayRef<mlir::ModuleOp> programs);
  /// Runs them on the interpreter. Failure where they do not tell each other the same: that is
  /// reported.
  mlir::FailureOr<Outcome> runRanks(llvm::StringRef pass, llvm::ArrayRef<mlir::ModuleOp> programs,
                                    const RandomInputs &feed, bool offsets, Wanted wanted);

  /// Whether there is nothing left to check: each check ends the verification if it finds a fault.
  bool ended() const { return found.fault || !found.unverifiable.empty(); }

  /// Where a fault shows first.
  struct Named {
    std::string op, place, why;
  };
  static std::optional<Named> named(const std::optional<Blame> &blame);
  /// The fault that ends the verification: `result` differs after `pass`; `detail` says how.
  void report(llvm::StringRef pass, const std::string &result, const std::optional<Named> &first,
              const std::string &detail);

  // What the options ask to be called.
  void tamper(llvm::StringRef pass, mlir::ModuleOp changed) const;
  /// Tampers with emitted kernels; null where nothing does.
  DumpKernels tampering() const;
  void progress(llvm::StringRef stage, const std::string &text) const;
  void worked(double seconds) const;

private:
  mlir::LogicalResult cut();
  std::string apart; ///< RankInterpreter::apart of what ran first

  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> parts;
};

} // namespace weir

#endif
