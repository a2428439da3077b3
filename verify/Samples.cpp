//===- Samples.cpp - States in which a program is verified ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Samples.h"
#include "ir/weir/Locations.h"
#include "ir/weir/program/Variable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "verify/Compare.h"
#include "verify/Rounding.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace weir {

LogicalResult Samples::make() {
  static constexpr const char *words[] = {"", " in the first step of a run",
                                          ", where a parameter is not a number,"};
  for (auto [moment, said] : llvm::zip_equal(moments, words)) {
    bool any = llvm::any_of(verification.module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
      return isRun(function.getSymName(), moment, verification.options.full);
    });
    if (!any)
      continue;
    FailureOr<RandomInputs> feed = makeRandomInputs(verification.module, verification.options.seed,
                                                    moment, false, verification.options.inputs);
    if (failed(feed))
      return failure();
    samples.push_back({moment, said, std::move(*feed), {}, {}});
  }
  return success();
}

void Samples::addVariables() {
  for (Sample &sample : samples)
    weir::addVariables(sample.feed, verification.module, verification.options.seed, sample.moment);
}

/// The first result of a sample in the middle of a run that is not finite, or beyond f32, which is
/// infinite when it is run; none where all are.
static const Result *notFinite(const Outcome &outcome) {
  for (const auto &[entry, results] : outcome)
    for (const Result &result : results)
      if (!llvm::all_of(result.value.values, [](double value) {
            return std::abs(value) <= std::numeric_limits<float>::max();
          }))
        return &result;
  return nullptr;
}

LogicalResult Samples::run(Sample &sample) {
  Interpreter interpreter;
  FailureOr<Outcome> outcome = interpret(twin(), sample.feed, interpreter,
                                         [&](StringRef entry) { return wants(sample, entry); });
  if (succeeded(outcome))
    sample.truth = std::move(*outcome);
  verification.worked(verification.cost.truth / samples.size());
  return LogicalResult(outcome);
}

LogicalResult Samples::takeTruth(ModuleOp twin) {
  truthful = twin;
  // A pass may have made a variable's type smaller.
  for (Sample &sample : samples)
    for (auto variable : twin.getOps<VariableOp>())
      roundTo(variable.getType(), sample.feed.variables[variable.getSymName().str()]);
  for (Sample &sample : samples)
    if (failed(run(sample)))
      return failure();
  auto report = [&](const Result &result, const char *where) {
    verification.found.unverifiable =
        llvm::formatv("`{0}` at {1} is not finite in f32 on {2}: there is nothing to compare",
                      result.name, describe(result.loc), where)
            .str();
  };
  const Result *wrong = notFinite(samples.front().truth);
  if (wrong && verification.options.inputs)
    report(*wrong, "the data");
  if (!wrong || verification.options.inputs)
    return success();
  // Logarithms and roots want positive inputs.
  FailureOr<RandomInputs> positive =
      makeRandomInputs(verification.module, verification.options.seed, Moment::middle, true);
  if (failed(positive))
    return failure();
  Sample &middle = samples.front();
  middle.feed = std::move(*positive);
  if (failed(run(middle)))
    return failure();
  if (const Result *result = notFinite(middle.truth))
    report(*result, "random inputs, between -2 and 2 nor between 0.1 and 2");
  return success();
}

void Samples::report(StringRef pass, const Sample &sample, llvm::ArrayRef<Disagreement> wrong,
                     const std::optional<Blame> &blame) {
  const Disagreement &first = wrong.front();
  if (first.name.empty())
    return verification.report(pass, "@" + first.entry, std::nullopt, "it is there no more");
  verification.report(
      pass, llvm::formatv("`{0}` of @{1}{2}", first.name, first.entry, sample.words).str(),
      Verification::named(blame),
      llvm::formatv("element {0} should be {1:e9} but is {2:e9} ({3} {4})", first.index,
                    first.expected, first.found, wrong.size(),
                    wrong.size() == 1 ? "result differs" : "results differ")
          .str());
}

FailureOr<std::vector<Disagreement>> Samples::differing(Sample &sample, const Outcome &outcome,
                                                        Wanted wanted, double &largest) {
  std::vector<Disagreement> wrong =
      disagreements(outcome, sample.truth, false, largest, nullptr, wanted);
  if (wrong.empty())
    return wrong;
  // What divides a gradient by its own size makes much of a little.
  if (sample.allowance.empty()) {
    FailureOr<Outcome> allowance =
        gradientAllowance(twin(), sample.feed, sample.truth, passTolerance);
    if (failed(allowance))
      return failure();
    sample.allowance = std::move(*allowance);
  }
  wrong = disagreements(outcome, sample.truth, false, largest, &sample.allowance, wanted);
  double step = coarsestStep(twin());
  if (wrong.empty() || step == 0)
    return wrong;
  Outcome allowance = sample.allowance;
  allowNeighbours(allowance, outcome, sample.truth, step);
  return disagreements(outcome, sample.truth, false, largest, &allowance, wanted);
}

LogicalResult Samples::compare(StringRef pass, double seconds, Wanted changed, RunSample run,
                               double &largest, FindBlame blame) {
  for (Sample &sample : samples) {
    auto wanted = [&](StringRef entry) {
      return wants(sample, entry) && (!changed || changed(entry));
    };
    FailureOr<Outcome> outcome = run(sample, wanted);
    if (failed(outcome))
      return failure();
    verification.worked(seconds / samples.size());
    FailureOr<std::vector<Disagreement>> wrong = differing(sample, *outcome, wanted, largest);
    if (failed(wrong))
      return failure();
    if (wrong->empty())
      continue;
    bool missing = wrong->front().name.empty();
    report(pass, sample, *wrong, missing ? std::nullopt : blame(wrong->front(), sample.feed));
    return success();
  }
  return success();
}

} // namespace weir
