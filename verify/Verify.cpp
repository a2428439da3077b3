//===- Verify.cpp - Every pass tested by running it -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Verify.h"
#include "codegen/artifact/Writer.h"
#include "codegen/plan/LowerToPlan.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Program.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "verify/Blame.h"
#include "verify/CheckActions.h"
#include "verify/Compare.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace weir {
namespace {

class Verification {
public:
  Verification(ModuleOp module, const VerifyOptions &options)
      : module(module), options(options), results(module) {}

  FailureOr<VerifyReport> run();

private:
  /// The program at one moment of a run.
  struct Sample {
    Moment moment;
    const char *words; ///< to be said with a fault; "" for the usual
    Feed feed;
    Outcome truth;
  };
  using Stage = LogicalResult (Verification::*)();

  // In this order; each ends the verification if it finds a fault.
  LogicalResult checkGradients();
  LogicalResult checkPasses();
  LogicalResult checkPlan();
  LogicalResult checkArtifact();

  LogicalResult checkPass(const PipelinePass &pass);
  /// What the module computes at this point, gradient ops or not.
  FailureOr<OwningOpRef<ModuleOp>> runnable();
  void tamper(StringRef pass, ModuleOp changed) {
    if (options.tamper)
      options.tamper(pass, changed);
  }
  void progress(StringRef stage, const std::string &text) {
    if (options.progress)
      options.progress(llvm::formatv("{0,-20} {1}", stage, text).str());
  }
  using RunSample = llvm::function_ref<FailureOr<Outcome>(const Feed &)>;
  using FindBlame = llvm::function_ref<std::optional<Blame>(const Disagreement &, const Feed &)>;
  /// Runs every sample and compares it with its truth; reports the first that differs.
  LogicalResult compareSamples(StringRef pass, RunSample run, double &largest, FindBlame blame);
  void reportFirst(StringRef pass, const Sample &sample, llvm::ArrayRef<Disagreement> wrong,
                   const std::optional<Blame> &blame);
  LogicalResult makeSamples();
  LogicalResult takeTruth(ModuleOp twin);
  struct Named {
    std::string op, place, why;
  };
  void report(StringRef pass, const std::string &result, const std::optional<Named> &first,
              const std::string &detail);
  static std::optional<Named> named(const std::optional<Blame> &blame) {
    if (!blame)
      return std::nullopt;
    return Named{blame->op, describe(blame->loc), blame->why};
  }

  ModuleOp module;
  const VerifyOptions &options;
  Results results;
  std::vector<Sample> samples;    ///< the middle of a run first
  OwningOpRef<ModuleOp> previous; ///< what the last form was run as
  VerifyReport found;
};

void Verification::report(StringRef pass, const std::string &result,
                          const std::optional<Named> &first, const std::string &detail) {
  VerifyFault fault{pass.str(), result, "", "", ""};
  fault.message = llvm::formatv("after {0}: {1} differs: {2}", pass, result, detail).str();
  if (first) {
    fault.op = first->op;
    fault.place = first->place;
    fault.message += llvm::formatv("\n  first op that differs: {0} at {1}: {2}", fault.op,
                                   fault.place, first->why)
                         .str();
  } else {
    fault.message += "\n  no single op was found that it begins with";
  }
  found.fault = fault;
}

void Verification::reportFirst(StringRef pass, const Sample &sample,
                               llvm::ArrayRef<Disagreement> wrong,
                               const std::optional<Blame> &blame) {
  const Disagreement &first = wrong.front();
  report(pass, llvm::formatv("`{0}` of @{1}{2}", first.name, first.entry, sample.words).str(),
         named(blame),
         llvm::formatv("element {0} should be {1:e9} but is {2:e9} ({3} result{4} in all)",
                       first.index, first.expected, first.found, wrong.size(),
                       wrong.size() == 1 ? "" : "s")
             .str());
}

LogicalResult Verification::compareSamples(StringRef pass, RunSample run, double &largest,
                                           FindBlame blame) {
  for (const Sample &sample : samples) {
    FailureOr<Outcome> outcome = run(sample.feed);
    if (failed(outcome))
      return failure();
    std::vector<Disagreement> wrong = disagreements(*outcome, sample.truth, false, largest);
    if (wrong.empty())
      continue;
    reportFirst(pass, sample, wrong, blame(wrong.front(), sample.feed));
    return success();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What it is run on
//===----------------------------------------------------------------------===//

LogicalResult Verification::makeSamples() {
  std::pair<Moment, const char *> moments[] = {
      {Moment::middle, ""},
      {Moment::start, " in the first step of a run"},
      {Moment::notFinite, ", where a parameter is not a number,"}};
  for (auto [moment, words] : moments) {
    FailureOr<Feed> feed = makeFeed(module, options.seed, moment);
    if (failed(feed))
      return failure();
    samples.push_back({moment, words, std::move(*feed), {}});
  }
  return success();
}

/// The first result of a sample in the middle of a run that is not finite; none where all are.
static const Result *notFinite(const Outcome &outcome) {
  for (const auto &[entry, results] : outcome)
    for (const Result &result : results)
      if (!llvm::all_of(result.value.values, [](double value) { return std::isfinite(value); }))
        return &result;
  return nullptr;
}

LogicalResult Verification::takeTruth(ModuleOp twin) {
  for (Sample &sample : samples) {
    Interpreter interpreter;
    FailureOr<Outcome> outcome = interpret(twin, sample.feed, interpreter);
    if (failed(outcome))
      return failure();
    sample.truth = std::move(*outcome);
  }
  if (!notFinite(samples.front().truth))
    return success();
  // Logarithms and roots want positive inputs.
  FailureOr<Feed> positive = makeFeed(module, options.seed, Moment::middle, true);
  if (failed(positive))
    return failure();
  Sample &middle = samples.front();
  middle.feed = std::move(*positive);
  Interpreter interpreter;
  FailureOr<Outcome> outcome = interpret(twin, middle.feed, interpreter);
  if (failed(outcome))
    return failure();
  middle.truth = std::move(*outcome);
  if (const Result *result = notFinite(middle.truth))
    found.notFinite = llvm::formatv("`{0}` at {1} is not finite on random inputs, between -2 and 2 "
                                    "nor between 0.1 and 2: there is nothing to compare",
                                    result->name, describe(result->loc))
                          .str();
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients against differences
//===----------------------------------------------------------------------===//

LogicalResult Verification::checkGradients() {
  auto tampering = [&](ModuleOp copy) { tamper("autodiff", copy); };
  OwningOpRef<ModuleOp> twin = differentiated(module, tampering);
  if (!twin)
    return failure();
  if (failed(takeTruth(*twin)))
    return failure();
  if (!found.notFinite.empty())
    return success();
  const Feed &feed = samples.front().feed;
  for (const auto &[entry, list] : samples.front().truth)
    found.results += list.size();

  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef entry = function.getSymName();
    if (function.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted() == false)
      continue;
    FailureOr<Gradients> gradients = gradientsOf(*twin, entry, feed);
    if (failed(gradients))
      return failure();
    size_t round = 0;
    std::string wrong;
    double off = 0;
    Interpreter interpreter;
    interpreter.variables = feed.variables;
    interpreter.gradients = [&](GradientOp op, Interpreter &running) -> FailureOr<Tensors> {
      const Tensors &values = (*gradients)[round++];
      double largest = 0;
      for (const Tensor &value : values)
        largest = std::max(largest, norm(value));
      for (unsigned source = 0; source < values.size(); ++source)
        for (unsigned seed : {0, 1}) {
          double relative;
          Tensor direction = randomDirection(values[source].shape, 2 * source + seed);
          FailureOr<bool> agrees = agreesWithDifferences(op, source, values[source], largest,
                                                         direction, running, relative);
          if (failed(agrees))
            return failure();
          found.largestSlope = std::max(found.largestSlope, relative);
          if (*agrees || !wrong.empty())
            continue;
          auto read = op.getSources()[source].getDefiningOp<ReadOp>();
          wrong = "the gradient of `" + (read ? read.getVariable().str() : "a value") + "` in @" +
                  entry.str();
          off = relative;
        }
      found.gradients += round == 1 ? values.size() : 0;
      return values;
    };
    if (failed(interpreter.run(function, feed.inputs.at(entry.str()))))
      return failure();
    if (wrong.empty())
      continue;
    report(
        "autodiff", wrong, named(blameGradient(module, entry, feed, tampering)),
        llvm::formatv("central differences of the loss are off by {0:e3} of its norm", off).str());
    return success();
  }
  progress("gradients", llvm::formatv("{0} agree with central differences (to {1:e1})",
                                      found.gradients, found.largestSlope)
                            .str());
  previous = std::move(twin);
  return success();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

FailureOr<OwningOpRef<ModuleOp>> Verification::runnable() {
  bool open = module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
  OwningOpRef<ModuleOp> copy = open ? differentiated(module, {}) : module.clone();
  if (!copy)
    return failure();
  return copy;
}

LogicalResult Verification::checkPass(const PipelinePass &pass) {
  PassManager manager(module.getContext());
  pass.add(manager);
  if (failed(manager.run(module)))
    return failure();
  tamper(pass.name, module);
  FailureOr<OwningOpRef<ModuleOp>> current = runnable();
  if (failed(current))
    return failure();
  double largest = 0;
  auto run = [&](const Feed &feed) {
    Interpreter interpreter;
    return interpret(**current, feed, interpreter);
  };
  if (failed(
          compareSamples(pass.name, run, largest, [&](const Disagreement &what, const Feed &feed) {
            return blame(*previous, **current, what, feed);
          })))
    return failure();
  found.largestExact = std::max(found.largestExact, largest);
  ++found.passes;
  if (!found.fault)
    progress(pass.name, llvm::formatv("agrees (to {0:e1})", largest).str());
  previous = std::move(*current);
  return success();
}

LogicalResult Verification::checkPasses() {
  for (const Phase &phase : phases())
    for (const PipelinePass &pass : phase.passes)
      if (failed(checkPass(pass)))
        return failure();
      else if (found.fault)
        return success();
  return success();
}

LogicalResult Verification::checkPlan() {
  auto check = [&](StringRef pass, bool offsets, FindBlame blame) {
    tamper(pass, module);
    double largest = 0;
    auto run = [&](const Feed &feed) { return interpretPlan(module, results, feed, offsets); };
    if (failed(compareSamples(pass, run, largest, blame)))
      return failure();
    if (!found.fault)
      progress(pass, llvm::formatv("agrees (to {0:e1})", largest).str());
    found.largestExact = std::max(found.largestExact, largest);
    ++found.passes;
    return success();
  };
  if (failed(lowerToPlan(module, options.target)) ||
      failed(check("lower-to-plan", false, [&](const Disagreement &what, const Feed &feed) {
        return blamePlan(*previous, module, what, feed);
      })))
    return failure();
  if (found.fault)
    return success();
  PassManager manager(module.getContext());
  manager.addPass(createAssignOffsets());
  if (failed(manager.run(module)))
    return failure();
  return check("assign-offsets", true, [&](const Disagreement &what, const Feed &feed) {
    return blameOffsets(module, what, feed);
  });
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

static bool sameBits(const Tensor &a, const Tensor &b) {
  return llvm::equal(a.values, b.values,
                     [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

LogicalResult Verification::checkArtifact() {
  FailureOr<std::vector<char>> code =
      compileKernels(kernelsOf(module), options.target, [&](StringRef phase, ModuleOp kernels) {
        if (phase == "emitted")
          tamper("codegen", kernels);
      });
  if (failed(code))
    return failure();
  found.kernels = llvm::range_size(module.getOps<plan::KernelOp>());
  std::vector<std::byte> artifact = writeArtifact(module, *code);
  CompiledProgram program(artifact), threaded(artifact, 3);
  auto run = [&](CompiledProgram &on, const Feed &feed) {
    return results.collect(feed,
                           [&](StringRef entry, const Tensors &inputs,
                               std::map<std::string, Tensor> &variables) -> FailureOr<Tensors> {
                             on.setVariables(variables);
                             Tensors outputs = on.run(entry, inputs);
                             variables = on.variables();
                             return outputs;
                           });
  };
  for (const Sample &sample : samples) {
    // What is not a number is only expected to leave all variables as they were: a product with 0,
    // of a masked token say, is NaN in compiled code and nothing on the interpreter.
    bool finite = sample.moment != Moment::notFinite;
    std::optional<CheckActions> checker;
    if (finite)
      checker.emplace(program.program(), module);
    FailureOr<Outcome> outcome = run(program, sample.feed);
    if (failed(outcome))
      return failure();
    if (finite) {
      found.actions += checker->checked().actions;
      found.largestAction = std::max(found.largestAction, checker->checked().largest);
    }
    if (finite && !checker->mismatches().empty()) {
      const ActionMismatch &first = checker->mismatches().front();
      report(
          "codegen", "@" + first.entry + sample.words,
          Named{first.op + " in the " + first.work, first.place, "it is not what the plan means"},
          first.detail);
      return success();
    }
    checker.reset();
    std::vector<Disagreement> wrong =
        disagreements(*outcome, sample.truth, true, found.largestResult);
    if (!finite)
      llvm::erase_if(wrong, [](const Disagreement &one) {
        return one.kind == ResultKind::output || one.kind == ResultKind::gradient;
      });
    if (finite && !wrong.empty()) {
      // What cancels, or decides a branch, may be off by more than its norm says.
      FailureOr<Outcome> allowance = roundingAllowance(*previous, sample.feed, sample.truth);
      if (failed(allowance))
        return failure();
      wrong = disagreements(*outcome, sample.truth, true, found.largestResult, &*allowance);
    }
    if (!wrong.empty()) {
      reportFirst("artifact", sample, wrong, std::nullopt);
      return success();
    }
    FailureOr<Outcome> again = run(threaded, sample.feed);
    if (failed(again))
      return failure();
    for (const auto &[entry, list] : *outcome)
      for (auto [one, other] : llvm::zip_equal(list, again->at(entry)))
        if (!sameBits(one.value, other.value)) {
          report("artifact", llvm::formatv("`{0}` of @{1}{2}", one.name, entry, sample.words).str(),
                 std::nullopt, "three threads give other bits than one");
          return success();
        }
  }
  progress("codegen", llvm::formatv("{0} actions agree with their meaning (to {1:e1})",
                                    found.actions, found.largestAction)
                          .str());
  progress("artifact", llvm::formatv("{0} results agree (to {1:e1}), on one thread and on three",
                                     found.results, found.largestResult)
                           .str());
  return success();
}

FailureOr<VerifyReport> Verification::run() {
  // Everything agrees about a program that computes nothing.
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (std::string missing = step ? missingLoss(step) : "there is no `step`"; !missing.empty()) {
    found.fault = VerifyFault{"elaborate", "", "", "", missing + ": there is nothing to verify"};
    return found;
  }
  nameEntryPorts(module);
  results = Results(module);
  if (failed(makeSamples()))
    return failure();
  for (Stage stage : {&Verification::checkGradients, &Verification::checkPasses,
                      &Verification::checkPlan, &Verification::checkArtifact}) {
    if (failed((this->*stage)()))
      return failure();
    if (found.fault || !found.notFinite.empty())
      break;
  }
  return found;
}

} // namespace

FailureOr<VerifyReport> verifyProgram(ModuleOp module, const VerifyOptions &options) {
  return Verification(module, options).run();
}

} // namespace weir
