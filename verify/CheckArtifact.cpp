//===- CheckArtifact.cpp - Compiled code against the plan -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Writer.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include "verify/CheckActions.h"
#include "verify/Checks.h"
#include "verify/Compare.h"
#include "verify/Gradients.h"
#include "verify/Rounding.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace weir {

/// Beside the middle of two floats of low precision a number may become either, and what is
/// computed of it differs by that: of each element by such a step, of it or of the tensor's mean
/// square. That each action rounds as it should has been seen by then.
static void allowSteps(Outcome &allowance, const Outcome &truth, double step) {
  if (step == 0)
    return;
  for (const auto &[entry, results] : truth)
    for (auto [allowed, result] : llvm::zip_equal(allowance[entry], results)) {
      const std::vector<double> &values = result.value.values;
      double squares = 0;
      for (double value : values)
        squares += value * value;
      double mean = std::sqrt(squares / std::max<size_t>(values.size(), 1));
      for (auto [most, value] : llvm::zip_equal(allowed.value.values, values))
        if (std::isfinite(mean))
          most = std::max(most, step * std::max(std::abs(value), mean));
    }
}

/// What of an outcome is not as it should be.
static FailureOr<std::vector<Disagreement>> differingInF32(Verification &verification,
                                                           Samples &samples,
                                                           IntermediatePrograms &forms,
                                                           Sample &sample, const Outcome &outcome) {
  VerifyReport &found = verification.found;
  std::vector<Disagreement> wrong = disagreements(outcome, sample.truth, true, found.largestResult);
  if (sample.moment == Moment::notFinite) {
    llvm::erase_if(wrong, [](const Disagreement &one) {
      return one.kind == ResultKind::output || one.kind == ResultKind::gradient;
    });
    return wrong;
  }
  if (wrong.empty())
    return wrong;
  double step = coarsestStep(samples.twin());
  FailureOr<Outcome> allowance = gradientAllowance(samples.twin(), sample.feed, sample.truth,
                                                   std::max(gradientTolerance, step / 8));
  if (failed(allowance))
    return failure();
  wrong = disagreements(outcome, sample.truth, true, found.largestResult, &*allowance);
  if (wrong.empty())
    return wrong;
  // What cancels, or decides a branch, may be off by more than its norm says.
  FailureOr<Outcome> rounding = roundingAllowance(forms.lastWhole(), sample.feed, sample.truth);
  if (failed(rounding))
    return failure();
  raiseTo(*allowance, *rounding);
  allowSteps(*allowance, sample.truth, step);
  return disagreements(outcome, sample.truth, true, found.largestResult, &*allowance);
}

LogicalResult checkArtifact(Verification &verification, Samples &samples,
                            IntermediatePrograms &forms) {
  VerifyReport &found = verification.found;
  llvm::SmallVector<ModuleOp> plans = verification.programs();
  PipelineOptions pipeline = verification.pipeline;
  pipeline.others = ArrayRef(plans).drop_front();
  if (failed(runPass("compile-kernels", plans.front(), pipeline)))
    return failure();
  for (ModuleOp plan : plans)
    found.kernels += llvm::range_size(plan.getOps<plan::KernelOp>());
  std::vector<std::byte> artifact = verification.isCut()
                                        ? writeArtifact(plans, verification.ranks.programOf)
                                        : writeArtifact(plans[0]);
  const std::string &device = verification.options.device;
  CompiledProgram program(artifact, {.threads = 1, .kind = device}),
      threaded(artifact, {.threads = 3, .kind = device});
  auto run = [&](CompiledProgram &on, const Sample &sample) {
    auto runEntry = [&](StringRef entry, const Tensors &inputs,
                        std::map<std::string, Tensor> &variables) -> FailureOr<Tensors> {
      on.setVariables(variables);
      Tensors outputs = on.run(entry, inputs);
      variables = on.variables();
      return outputs;
    };
    return verification.results.collect(
        sample.feed, runEntry, [&](StringRef entry) { return samples.wants(sample, entry); });
  };
  for (Sample &sample : samples.all()) {
    // What is not a number is only expected to leave all variables as they were: a product with 0,
    // of a masked token say, is NaN in compiled code and nothing on the interpreter.
    bool finite = sample.moment != Moment::notFinite;
    // Of several ranks, what each one reads and writes is not looked at.
    bool looks = finite && !verification.isCut();
    std::optional<CheckActions> checker;
    if (looks)
      checker.emplace(program.program(), plans[0]);
    FailureOr<Outcome> outcome = run(program, sample);
    if (failed(outcome))
      return failure();
    if (looks) {
      found.actions += checker->checked().actions;
      found.largestAction = std::max(found.largestAction, checker->checked().largest);
    }
    if (looks && !checker->mismatches().empty()) {
      const ActionMismatch &first = checker->mismatches().front();
      verification.report("codegen", "@" + first.entry + sample.words,
                          Verification::Named{first.op + " in the " + first.work, first.place,
                                              "it is not what the plan means"},
                          first.detail);
      return success();
    }
    checker.reset();
    FailureOr<std::vector<Disagreement>> wrong =
        differingInF32(verification, samples, forms, sample, *outcome);
    if (failed(wrong))
      return failure();
    if (!wrong->empty()) {
      samples.report("artifact", sample, *wrong, std::nullopt);
      return success();
    }
    verification.worked(verification.cost.actions / samples.all().size());
    FailureOr<Outcome> again = run(threaded, sample);
    if (failed(again))
      return failure();
    for (const auto &[entry, list] : *outcome)
      for (auto [one, other] : llvm::zip_equal(list, again->at(entry)))
        if (!sameElements(one.value, other.value)) {
          verification.report(
              "artifact", llvm::formatv("`{0}` of @{1}{2}", one.name, entry, sample.words).str(),
              std::nullopt, "three threads give other bits than one");
          return success();
        }
  }
  if (!verification.isCut())
    verification.progress("codegen",
                          llvm::formatv("{0} actions agree with their meaning (to {1:e1})",
                                        found.actions, found.largestAction)
                              .str());
  verification.progress("artifact",
                        llvm::formatv("{0} results agree (to {1:e1}), on one thread and on three",
                                      found.results, found.largestResult)
                            .str());
  return success();
}

} // namespace weir
