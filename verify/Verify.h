//===- Verify.h - Tests every pass by running its result ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program on the reference interpreter as the frontend produces it, and compares its
// gradients with central differences. Then runs the plan that all passes make of it, in one arena
// with the plan's offsets. Then runs the artifact, and compares each of its actions with its
// meaning. All forms must agree on every output, every gradient and every variable: in the middle
// of a run, in its first step, and in a step that is skipped because it is not finite.
//
// If the plan differs, the programs after each pass that changes something are run as well, to name
// the wrong pass: no pass repairs the error of another. On demand, they always run, except entries
// that a pass leaves unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_VERIFY_H
#define WEIR_VERIFY_VERIFY_H

#include "passes/Pipeline.h"
#include "verify/RandomInputs.h"
#include <functional>
#include <optional>
#include <string>

namespace weir {

struct VerifyOptions {
  std::string target; ///< one that makeTarget() takes (codegen/targets)
  Strategy strategy;  ///< PipelineOptions::strategy
  std::string device; ///< DeviceOptions::kind
  unsigned seed = 1;  ///< of the random numbers the program is run on
  GivenInputs inputs; ///< what it is run on instead, where set
  /// Every form of the program, every entry at every moment, and each gradient by itself.
  bool full = false;
  /// One line after every stage, where set.
  std::function<void(const std::string &)> progress;
  /// Called with the seconds of work that were done, by verifyCost() (verify/Cost.h), where set.
  std::function<void(double seconds)> worked;
  /// For tests that plant faults: called after every pass with its name and the module it has made,
  /// after code generation with "codegen" and the kernels' module before it is vectorized.
  std::function<void(llvm::StringRef pass, mlir::ModuleOp module)> tamper;
};

/// The first thing that is wrong.
struct VerifyFault {
  std::string pass;    ///< the stage after which it shows: "fuse", "lower-to-plan", "codegen"
  std::string result;  ///< "`wte.weight` after @step"
  std::string op;      ///< the first op that differs; empty where none was found
  std::string place;   ///< its line of the model
  std::string message; ///< all of it in one text, without a final newline
};

struct VerifyReport {
  unsigned unknownGradients = 0; ///< of the gradients, those that differences say nothing of
  unsigned passes = 0, gradients = 0, kernels = 0, actions = 0, results = 0;
  unsigned unchanged = 0;   ///< of the passes, those that left the program as it was
  double largestExact = 0;  ///< relative, between forms run in f64
  double largestSlope = 0;  ///< relative, of gradients to differences
  double largestAction = 0; ///< relative, of launches and library calls to their meaning
  double largestResult = 0; ///< relative, of the artifact's results
  std::optional<VerifyFault> fault;
  std::string unverifiable; ///< why the program cannot be verified; "" where it could
};

/// `module` is as the frontend makes it and consumed. Failure, with a diagnostic, if a form of the
/// program cannot be compiled or run at all.
mlir::FailureOr<VerifyReport> verifyProgram(mlir::ModuleOp module, const VerifyOptions &options);

} // namespace weir

#endif
