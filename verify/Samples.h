//===- Samples.h - States in which a program is verified ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sample is the program at one moment of a run, on random numbers, with its results there. All
// forms of the program must agree with the first one, which the frontend produces.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_SAMPLES_H
#define WEIR_VERIFY_SAMPLES_H

#include "verify/Verification.h"

namespace weir {

struct Sample {
  Moment moment;
  const char *words; ///< for messages about a fault; "" for the usual moment
  RandomInputs feed;
  Outcome truth;
  Outcome allowance; ///< the effect of f64 gradient errors; empty until it is needed
};

class Samples {
public:
  explicit Samples(Verification &verification) : verification(verification) {}

  /// Draws the numbers for each moment in which the program has something to run.
  mlir::LogicalResult make();
  /// Runs each sample on `twin`, the frontend's program, differentiated. Reports a program whose
  /// results in the middle of a run are not finite, because they cannot be compared.
  mlir::LogicalResult takeTruth(mlir::ModuleOp twin);

  /// Draws values for what passes have declared since then.
  void addVariables();

  std::vector<Sample> &all() { return samples; }
  const Sample &middle() const { return samples.front(); } ///< of a run
  mlir::ModuleOp twin() const { return truthful; } ///< the program that gave the reference results
  /// Whether an entry runs in a sample.
  bool wants(const Sample &sample, llvm::StringRef entry) const {
    return isRun(entry, sample.moment, verification.options.full);
  }

  using RunSample = llvm::function_ref<mlir::FailureOr<Outcome>(const Sample &, Wanted)>;
  using FindBlame =
      llvm::function_ref<std::optional<Blame>(const Disagreement &, const RandomInputs &)>;
  /// Runs every sample in f64, for the entries in `changed`, as `seconds` of work, and compares it
  /// with its reference. Reports the first that differs. Raises `largest` to the largest
  /// difference.
  mlir::LogicalResult compare(llvm::StringRef pass, double seconds, Wanted changed, RunSample run,
                              double &largest, FindBlame blame);

  /// Reports that the results `wrong`, at least one, are wrong after `pass`.
  void report(llvm::StringRef pass, const Sample &sample, llvm::ArrayRef<Disagreement> wrong,
              const std::optional<Blame> &blame);

private:
  mlir::LogicalResult run(Sample &sample);
  /// The results that differ.
  mlir::FailureOr<std::vector<Disagreement>> differing(Sample &sample, const Outcome &outcome,
                                                       Wanted wanted, double &largest);

  Verification &verification;
  std::vector<Sample> samples; ///< the middle of a run first
  mlir::ModuleOp truthful;
};

} // namespace weir

#endif
