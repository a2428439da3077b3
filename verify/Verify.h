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
  std::string target; ///< accepted by makeTarget() (codegen/targets)
  Strategy strategy;  ///< PipelineOptions::strategy
  std::string device; ///< DeviceOptions::kind
  unsigned seed = 1;  ///< of the random inputs
  GivenInputs inputs; ///< inputs to use instead of random ones, if set
  /// Runs every form of the program, every entry in every moment, and compares each gradient by
  /// itself.
  bool full = false;
  /// Called with one line after every stage, if set.
  std::function<void(const std::string &)> progress;
  /// Called with the seconds of completed work, as in verifyCost() (verify/Cost.h), if set.
  std::function<void(double seconds)> worked;
  /// For tests that plant faults: called after every pass with its name and its result, and after
  /// code generation with "codegen" and the kernels' module before it is vectorized.
  std::function<void(llvm::StringRef pass, mlir::ModuleOp module)> tamper;
};

/// The first fault.
struct VerifyFault {
  std::string pass;    ///< the stage after which it shows: "fuse", "lower-to-plan", "codegen"
  std::string result;  ///< "`wte.weight` after @step"
  std::string op;      ///< the first op that differs; empty if none was found
  std::string place;   ///< its line of the model
  std::string message; ///< all of it as one text, without a final newline
};

struct VerifyReport {
  unsigned unknownGradients = 0; ///< gradients for which differences give no answer
  unsigned passes = 0, gradients = 0, kernels = 0, actions = 0, results = 0;
  unsigned unchanged = 0;   ///< passes that left the program unchanged
  double largestExact = 0;  ///< relative, between forms run in f64
  double largestSlope = 0;  ///< relative, between gradients and differences
  double largestAction = 0; ///< relative, between launches or library calls and their meaning
  double largestResult = 0; ///< relative, of the artifact's results
  std::optional<VerifyFault> fault;
  std::string unverifiable; ///< why the program cannot be verified, or ""
};

/// `module` is the frontend's, and is consumed. Fails, with a diagnostic, if a form of the program
/// cannot be compiled or run at all.
mlir::FailureOr<VerifyReport> verifyProgram(mlir::ModuleOp module, const VerifyOptions &options);

} // namespace weir

#endif
