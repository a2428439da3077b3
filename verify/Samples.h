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
  const char *words; ///< to be said with a fault; "" for the usual
  RandomInputs feed;
  Outcome truth;
  Outcome allowance; ///< how far gradients in f64 may take it; empty as long as nobody asked
};

class Samples {
public:
  explicit Samples(Verification &verification) : verification(verification) {}

  /// Draws the numbers for each moment in which the program has something to run.
  mlir::LogicalResult make();
  /// Runs each on `twin`, the program as the frontend made it, differentiated. A program whose
  /// results are not finite in the middle of a run is reported: there is nothing to compare.
  mlir::LogicalResult takeTruth(mlir::ModuleOp twin);

  /// Draws what a pass has declared since then.
  void addVariables();

  std::vector<Sample> &all() { return samples; }
  const Sample &middle() const { return samples.front(); } ///< of a run
  mlir::ModuleOp twin() const { return truthful; }         ///< what the truth was taken from
  /// Whether an entry is run in a sample.
  bool wants(const Sample &sample, llvm::StringRef entry) const {
    return isRun(entry, sample.moment, verification.options.full);
  }

  using RunSample = llvm::function_ref<mlir::FailureOr<Outcome>(const Sample &, Wanted)>;
  using FindBlame =
      llvm::function_ref<std::optional<Blame>(const Disagreement &, const RandomInputs &)>;
  /// Runs every sample in f64, of those entries that `changed` says, `seconds` of work in all, and
  /// compares it with its truth; reports the first that differs. `largest` grows to the largest
  /// difference.
  mlir::LogicalResult compare(llvm::StringRef pass, double seconds, Wanted changed, RunSample run,
                              double &largest, FindBlame blame);

  /// Reports that `wrong`, of which there is one at least, is so after `pass`.
  void report(llvm::StringRef pass, const Sample &sample, llvm::ArrayRef<Disagreement> wrong,
              const std::optional<Blame> &blame);

private:
  mlir::LogicalResult run(Sample &sample);
  /// What is not as it should be.
  mlir::FailureOr<std::vector<Disagreement>> differing(Sample &sample, const Outcome &outcome,
                                                       Wanted wanted, double &largest);

  Verification &verification;
  std::vector<Sample> samples; ///< the middle of a run first
  mlir::ModuleOp truthful;
};

} // namespace weir

#endif
