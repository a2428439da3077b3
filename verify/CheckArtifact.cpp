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

namespace {

/// The compiled program, on one thread and on three, and how its outcomes are judged.
class ArtifactCheck {
public:
  /// `artifact` is of `plan`, and of the plans of other ranks if the program is cut.
  ArtifactCheck(Verification &verification, Samples &samples, IntermediatePrograms &forms,
                ModuleOp plan, const std::vector<std::byte> &artifact)
      : verification(verification), samples(samples), forms(forms), plan(plan),
        program(artifact, {.threads = 1, .kind = verification.options.device}),
        threaded(artifact, {.threads = 3, .kind = verification.options.device}) {}

  /// Whether the artifact computes what the program means. False after a report.
  FailureOr<bool> agrees(Sample &sample);

private:
  FailureOr<Outcome> run(CompiledProgram &on, const Sample &sample);
  /// Runs the sample on one thread. With `looks`, each action is compared with the plan's meaning;
  /// nothing after a report.
  FailureOr<std::optional<Outcome>> runChecked(const Sample &sample, bool looks);
  /// The results that differ from the sample's truth by more than rounding explains.
  FailureOr<std::vector<Disagreement>> differing(Sample &sample, const Outcome &outcome);
  /// Whether three threads give the same bits as one.
  FailureOr<bool> sameOnThreads(const Sample &sample, Outcome &outcome);

  Verification &verification;
  Samples &samples;
  IntermediatePrograms &forms;
  ModuleOp plan;
  CompiledProgram program, threaded;
};

FailureOr<Outcome> ArtifactCheck::run(CompiledProgram &on, const Sample &sample) {
  auto runEntry = [&](StringRef entry, const Tensors &inputs,
                      std::map<std::string, Tensor> &variables) -> FailureOr<Tensors> {
    on.setVariables(variables);
    Tensors outputs = on.run(entry, inputs);
    variables = on.variables();
    return outputs;
  };
  return verification.results.collect(
      sample.feed, runEntry, [&](StringRef entry) { return samples.wants(sample, entry); });
}

FailureOr<std::optional<Outcome>> ArtifactCheck::runChecked(const Sample &sample, bool looks) {
  VerifyReport &found = verification.found;
  std::optional<CheckActions> checker;
  if (looks)
    checker.emplace(program.program(), plan);
  FailureOr<Outcome> outcome = run(program, sample);
  if (failed(outcome))
    return failure();
  if (looks) {
    found.actions += checker->checked().actions;
    found.largestAction = std::max(found.largestAction, checker->checked().largest);
  }
  if (!looks || checker->mismatches().empty())
    return std::optional<Outcome>(std::move(*outcome));
  const ActionMismatch &first = checker->mismatches().front();
  verification.report("codegen", "@" + first.entry + sample.words,
                      Verification::Named{first.op + " in the " + first.work, first.place,
                                          "it is not what the plan means"},
                      first.detail);
  return std::optional<Outcome>();
}

FailureOr<std::vector<Disagreement>> ArtifactCheck::differing(Sample &sample,
                                                              const Outcome &outcome) {
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

FailureOr<bool> ArtifactCheck::sameOnThreads(const Sample &sample, Outcome &outcome) {
  FailureOr<Outcome> again = run(threaded, sample);
  if (failed(again))
    return failure();
  for (const auto &[entry, list] : outcome)
    for (auto [one, other] : llvm::zip_equal(list, again->at(entry)))
      if (!sameElements(one.value, other.value)) {
        verification.report("artifact",
                            llvm::formatv("`{0}` of @{1}{2}", one.name, entry, sample.words).str(),
                            std::nullopt, "three threads give other bits than one");
        return false;
      }
  return true;
}

FailureOr<bool> ArtifactCheck::agrees(Sample &sample) {
  // What is not a number is only expected to leave all variables as they were: a product with 0,
  // of a masked token say, is NaN in compiled code and nothing on the interpreter.
  bool finite = sample.moment != Moment::notFinite;
  // Of several ranks, what each one reads and writes is not looked at.
  FailureOr<std::optional<Outcome>> outcome = runChecked(sample, finite && !verification.isCut());
  if (failed(outcome))
    return failure();
  if (!*outcome)
    return false;
  FailureOr<std::vector<Disagreement>> wrong = differing(sample, **outcome);
  if (failed(wrong))
    return failure();
  if (!wrong->empty()) {
    samples.report("artifact", sample, *wrong, std::nullopt);
    return false;
  }
  verification.worked(verification.cost.actions / samples.all().size());
  return sameOnThreads(sample, **outcome);
}

/// Compiles the kernels of all ranks' plans, and writes the artifact.
FailureOr<std::vector<std::byte>> compilePlans(Verification &verification,
                                               ArrayRef<ModuleOp> plans) {
  PipelineOptions pipeline = verification.pipeline;
  pipeline.others = plans.drop_front();
  if (failed(runPass("compile-kernels", plans.front(), pipeline)))
    return failure();
  for (ModuleOp plan : plans)
    verification.found.kernels += llvm::range_size(plan.getOps<plan::KernelOp>());
  return verification.isCut() ? writeArtifact(plans, verification.ranks.programOf)
                              : writeArtifact(plans[0]);
}

} // namespace

LogicalResult checkArtifact(Verification &verification, Samples &samples,
                            IntermediatePrograms &forms) {
  llvm::SmallVector<ModuleOp> plans = verification.programs();
  FailureOr<std::vector<std::byte>> artifact = compilePlans(verification, plans);
  if (failed(artifact))
    return failure();
  ArtifactCheck check(verification, samples, forms, plans[0], *artifact);
  for (Sample &sample : samples.all()) {
    FailureOr<bool> agrees = check.agrees(sample);
    if (failed(agrees) || !*agrees)
      return success(succeeded(agrees));
  }
  const VerifyReport &found = verification.found;
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
