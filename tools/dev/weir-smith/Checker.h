//===- Checker.h - The stages that one program goes through -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_CHECKER_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_CHECKER_H

#include "ir/reference/PlanInterpreter.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Pipeline.h"
#include "tools/dev/weir-smith/Check.h"
#include "tools/dev/weir-smith/Trial.h"
#include "verify/Compare.h"

namespace weir::smith {

/// Simplification folds constants, and a constant is an f32: more than the rounding that Trial
/// allows.
constexpr double foldTolerance = 5e-6;

/// What one entry gives: results in order, and variables by name.
struct EntryRun {
  Tensors results;
  std::map<std::string, Tensor> variables;
};
using ProgramRun = std::map<std::string, EntryRun>;

class Checker {
public:
  Checker(mlir::ModuleOp module, const CheckOptions &options);

  Outcome run();

private:
  struct Entry {
    Tensors inputs;
    std::vector<std::string> outputs;
    std::vector<mlir::Type> types;
    double largestNorm = 0; ///< of the values that its results are computed from
  };

  bool begin(llvm::StringRef stage) {
    if (!options.until.empty() && outcome.stage == options.until)
      return false;
    outcome.stage = stage.str();
    if (options.onStage)
      options.onStage(stage);
    return true;
  }
  bool fail(const std::string &message) {
    outcome.kind = Outcome::Kind::fails;
    outcome.message = message + (diagnostics.empty() ? "" : "\n" + diagnostics);
    return false;
  }

  bool roundtrip();
  bool findTruth();
  bool refuse(const std::string &why) {
    outcome.kind = Outcome::Kind::refused;
    outcome.message = why;
    return false;
  }
  bool tryForward(mlir::ModuleOp program);
  bool tryInF32(mlir::ModuleOp differentiated);
  bool runPasses(mlir::ModuleOp on,
                 std::initializer_list<std::unique_ptr<mlir::Pass> (*)()> passes);
  bool runTrial(Trial &trial, mlir::func::FuncOp function);
  bool declinesAttention(mlir::ModuleOp program);
  bool everyPass();
  bool without();
  bool plan();
  bool ranks();
  /// Whether these programs, of which each rank runs one, compute what the whole one does.
  bool ranksAgree(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs,
                  llvm::ArrayRef<uint32_t> programOf);
  void addMissingEntries(mlir::ModuleOp program);
  bool runCompiled(const std::vector<std::byte> &artifact, llvm::StringRef once,
                   llvm::StringRef again);

  mlir::OwningOpRef<mlir::ModuleOp> copy() {
    return mlir::OwningOpRef<mlir::ModuleOp>(module.clone());
  }
  bool apply(const PipelinePass &pass, mlir::ModuleOp to, const PipelineOptions &with);
  std::optional<MemoryReport> measure(const PipelineOptions &with);
  bool findRoom();
  std::optional<ProgramRun> interpret(mlir::ModuleOp program);
  std::optional<ProgramRun> interpretPlan(mlir::ModuleOp plan, bool offsets);
  bool agree(const ProgramRun &run, const ProgramRun &with, double tolerance);
  double runTolerance = gradientTolerance; ///< of what is compiled: more where factors are rounded
  std::string difference(const std::string &entry, const EntryRun &run, const EntryRun &with,
                         double tolerance);

  mlir::ModuleOp module;
  const CheckOptions &options;
  const PipelineOptions pipeline;
  PipelineOptions planned; ///< the same, with the memory that the program asks for
  std::map<std::string, Tensor> variables;
  std::map<std::string, Entry> entries;
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler;
  Outcome outcome;
  ProgramRun truth;
  bool rounds = false; ///< to low precision, in a pass
};

} // namespace weir::smith

#endif
