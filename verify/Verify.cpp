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
#include "verify/Cost.h"
#include "verify/Gradients.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace weir {
namespace {

/// Every entry as text, to be compared.
std::map<std::string, std::string> textOf(ModuleOp module) {
  std::map<std::string, std::string> text;
  for (auto function : module.getOps<func::FuncOp>()) {
    llvm::raw_string_ostream stream(text[function.getSymName().str()]);
    function.print(stream);
  }
  return text;
}

class Verification {
public:
  Verification(ModuleOp module, const VerifyOptions &options)
      : module(module), options(options), cost(verifyCost(module, options.full)), results(module) {}

  FailureOr<VerifyReport> run();

private:
  /// The program at one moment of a run.
  struct Sample {
    Moment moment;
    const char *words; ///< to be said with a fault; "" for the usual
    Feed feed;
    Outcome truth;
    Outcome allowance; ///< how far gradients in f64 may take it; empty as long as nobody asked
  };
  /// The program after a pass, gradients computed. Entries that are as they were before it are
  /// known to mean the same.
  struct Form {
    std::string pass;
    OwningOpRef<ModuleOp> module;
    std::map<std::string, std::string> text; ///< of each entry
  };
  using Stage = LogicalResult (Verification::*)();

  // In this order; each ends the verification if it finds a fault.
  LogicalResult checkGradients();
  LogicalResult runPasses();
  LogicalResult checkPlan();
  LogicalResult checkArtifact();

  LogicalResult addForm(StringRef pass);
  /// Of the form of that number, not the first; what it has not changed is not run.
  LogicalResult checkForm(size_t number);
  LogicalResult findPass(llvm::function_ref<LogicalResult()> checkBuffers);
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
  void worked(double seconds) {
    if (options.worked)
      options.worked(seconds);
  }
  using RunSample = llvm::function_ref<FailureOr<Outcome>(const Sample &, Wanted)>;
  using FindBlame = llvm::function_ref<std::optional<Blame>(const Disagreement &, const Feed &)>;
  /// Runs every sample, of those entries that `changed` says, `cost` seconds in all, and compares
  /// it with its truth; reports the first that differs.
  LogicalResult compareSamples(StringRef pass, double cost, Wanted changed, RunSample run,
                               double &largest, FindBlame blame);
  /// What is not as it should be of a form that was run in f64.
  FailureOr<std::vector<Disagreement>> differing(Sample &sample, const Outcome &outcome,
                                                 Wanted wanted, double &largest);
  /// The same of the artifact.
  FailureOr<std::vector<Disagreement>> differingInF32(Sample &sample, const Outcome &outcome);
  void reportFirst(StringRef pass, const Sample &sample, llvm::ArrayRef<Disagreement> wrong,
                   const std::optional<Blame> &blame);
  LogicalResult makeSamples();
  LogicalResult takeTruth();
  LogicalResult checkRows();
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
  bool wants(const Sample &sample, StringRef entry) const {
    return isRun(entry, sample.moment, options.full);
  }
  /// The program as the frontend made it, differentiated, and the last form of weir IR.
  ModuleOp twin() { return *forms.front().module; }
  ModuleOp last() { return *forms.back().module; }

  ModuleOp module;
  const VerifyOptions &options;
  VerifyCost cost;
  Results results;
  std::vector<Sample> samples; ///< the middle of a run first
  std::vector<Form> forms;     ///< each unlike the one before it; the first is what is true
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
  if (first.name.empty())
    return report(pass, "@" + first.entry, std::nullopt, "it is there no more");
  report(pass, llvm::formatv("`{0}` of @{1}{2}", first.name, first.entry, sample.words).str(),
         named(blame),
         llvm::formatv("element {0} should be {1:e9} but is {2:e9} ({3} result{4} in all)",
                       first.index, first.expected, first.found, wrong.size(),
                       wrong.size() == 1 ? "" : "s")
             .str());
}

FailureOr<std::vector<Disagreement>> Verification::differing(Sample &sample, const Outcome &outcome,
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
  return disagreements(outcome, sample.truth, false, largest, &sample.allowance, wanted);
}

LogicalResult Verification::compareSamples(StringRef pass, double seconds, Wanted changed,
                                           RunSample run, double &largest, FindBlame blame) {
  for (Sample &sample : samples) {
    auto wanted = [&](StringRef entry) {
      return wants(sample, entry) && (!changed || changed(entry));
    };
    FailureOr<Outcome> outcome = run(sample, wanted);
    if (failed(outcome))
      return failure();
    worked(seconds / samples.size());
    FailureOr<std::vector<Disagreement>> wrong = differing(sample, *outcome, wanted, largest);
    if (failed(wrong))
      return failure();
    if (wrong->empty())
      continue;
    bool missing = wrong->front().name.empty();
    reportFirst(pass, sample, *wrong, missing ? std::nullopt : blame(wrong->front(), sample.feed));
    return success();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What it is run on
//===----------------------------------------------------------------------===//

LogicalResult Verification::makeSamples() {
  static constexpr const char *words[] = {"", " in the first step of a run",
                                          ", where a parameter is not a number,"};
  for (auto [moment, said] : llvm::zip_equal(moments, words)) {
    bool any = llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
      return isRun(function.getSymName(), moment, options.full);
    });
    if (!any)
      continue;
    FailureOr<Feed> feed = makeFeed(module, options.seed, moment);
    if (failed(feed))
      return failure();
    samples.push_back({moment, said, std::move(*feed), {}, {}});
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

LogicalResult Verification::takeTruth() {
  auto run = [&](Sample &sample) -> LogicalResult {
    Interpreter interpreter;
    FailureOr<Outcome> outcome = interpret(twin(), sample.feed, interpreter,
                                           [&](StringRef entry) { return wants(sample, entry); });
    if (succeeded(outcome))
      sample.truth = std::move(*outcome);
    worked(cost.truth / samples.size());
    return LogicalResult(outcome);
  };
  for (Sample &sample : samples)
    if (failed(run(sample)))
      return failure();
  if (!notFinite(samples.front().truth))
    return success();
  // Logarithms and roots want positive inputs.
  FailureOr<Feed> positive = makeFeed(module, options.seed, Moment::middle, true);
  if (failed(positive))
    return failure();
  Sample &middle = samples.front();
  middle.feed = std::move(*positive);
  if (failed(run(middle)))
    return failure();
  if (const Result *result = notFinite(middle.truth))
    found.notFinite = llvm::formatv("`{0}` at {1} is not finite on random inputs, between -2 and 2 "
                                    "nor between 0.1 and 2: there is nothing to compare",
                                    result->name, describe(result->loc))
                          .str();
  return success();
}

/// The figures of single rows are to add up to those of the batch they were cut from.
LogicalResult Verification::checkRows() {
  const Sample &middle = samples.front();
  auto eval = middle.truth.find("eval");
  auto one = twin().lookupSymbol<func::FuncOp>("eval_one");
  if (!one || eval == middle.truth.end() || one.getNumArguments() == 0)
    return success();
  const Tensors &inputs = middle.feed.inputs.at("eval");
  int64_t rows = inputs[0].shape[0] / shapeOf(one.getArgument(0))[0];
  std::vector<double> sums(one.getNumResults()), sizes(one.getNumResults());
  for (int64_t row = 0; row < rows; ++row) {
    Tensors part;
    for (const Tensor &input : inputs)
      part.push_back(input.part(row, rows));
    Interpreter interpreter;
    interpreter.variables = middle.feed.variables;
    FailureOr<Tensors> figures = interpreter.run(one, part);
    if (failed(figures))
      return failure();
    for (auto [i, figure] : llvm::enumerate(*figures)) {
      sums[i] += figure.values[0];
      sizes[i] += std::abs(figure.values[0]);
    }
  }
  worked(cost.rows);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    const Result &whole = eval->second[i];
    double should = whole.value.values[0];
    if (std::abs(sum - should) <= passTolerance * std::max(sizes[i], std::abs(should)))
      continue;
    report("elaborate", "`" + whole.name + "` of @eval_one", std::nullopt,
           llvm::formatv("over the {0} rows of a batch it should be {1:e9} but is {2:e9}", rows,
                         should, sum)
               .str());
    return success();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients against differences
//===----------------------------------------------------------------------===//

LogicalResult Verification::checkGradients() {
  auto tampering = [&](ModuleOp copy) { tamper("autodiff", copy); };
  OwningOpRef<ModuleOp> first = differentiated(module, tampering);
  if (!first)
    return failure();
  forms.push_back({"", std::move(first), {}});
  forms.back().text = textOf(twin());
  if (failed(takeTruth()))
    return failure();
  if (!found.notFinite.empty())
    return success();
  if (failed(checkRows()))
    return failure();
  if (found.fault)
    return success();
  const Feed &feed = samples.front().feed;
  for (const auto &[entry, list] : samples.front().truth)
    found.results += list.size();

  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef entry = function.getSymName();
    if (function.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted() == false)
      continue;
    FailureOr<Gradients> gradients = gradientsOf(twin(), entry, feed);
    if (failed(gradients))
      return failure();
    size_t round = 0;
    std::string wrong;
    double off = 0;
    Interpreter interpreter;
    interpreter.variables = feed.variables;
    interpreter.gradients = [&](GradientOp op, Interpreter &running) -> FailureOr<Tensors> {
      const Tensors &values = (*gradients)[round++];
      Differences differences(op, values, running);
      unsigned count = values.size();
      if (!options.full && failed(differences.check(0, count, directionsOfAll)))
        return failure();
      for (unsigned source = 0; options.full && source < count; ++source)
        if (failed(differences.check(source, 1, directionsOfEach)))
          return failure();
      found.largestSlope = std::max(found.largestSlope, differences.off);
      if (wrong.empty() && !differences.wrong.empty()) {
        auto read = op.getSources()[differences.wrong.front().first].getDefiningOp<ReadOp>();
        wrong = "the gradient of `" + (read ? read.getVariable().str() : "a value") + "` in @" +
                entry.str();
        off = differences.wrong.front().second;
      }
      found.gradients += round == 1 ? count : 0;
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
  worked(cost.gradients);
  if (found.gradients)
    progress("gradients", llvm::formatv("{0} agree with central differences (to {1:e1}), {2}",
                                        found.gradients, found.largestSlope,
                                        options.full ? "each along 2 directions"
                                                     : "along 4 directions of all of them at once")
                              .str());
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

LogicalResult Verification::addForm(StringRef pass) {
  FailureOr<OwningOpRef<ModuleOp>> current = runnable();
  if (failed(current))
    return failure();
  Form form{pass.str(), std::move(*current), {}};
  form.text = textOf(*form.module);
  ++found.passes;
  if (form.text == forms.back().text)
    ++found.unchanged;
  else
    forms.push_back(std::move(form));
  return success();
}

LogicalResult Verification::checkForm(size_t number) {
  Form &form = forms[number], &before = forms[number - 1];
  double largest = 0;
  auto changed = [&](StringRef entry) {
    auto was = before.text.find(entry.str()), is = form.text.find(entry.str());
    return was == before.text.end() || is == form.text.end() || was->second != is->second;
  };
  auto run = [&](const Sample &sample, Wanted wanted) {
    Interpreter interpreter;
    return interpret(*form.module, sample.feed, interpreter, wanted);
  };
  auto findBlame = [&](const Disagreement &what, const Feed &feed) {
    return blame(*before.module, *form.module, what, feed);
  };
  if (failed(compareSamples(form.pass, 0, changed, run, largest, findBlame)))
    return failure();
  found.largestExact = std::max(found.largestExact, largest);
  if (!found.fault && options.full)
    progress(form.pass, llvm::formatv("agrees (to {0:e1})", largest).str());
  return success();
}

LogicalResult Verification::runPasses() {
  size_t count = 0;
  for (const Phase &phase : phases())
    count += phase.passes.size();
  for (const Phase &phase : phases())
    for (const PipelinePass &pass : phase.passes) {
      PassManager manager(module.getContext());
      pass.add(manager);
      if (failed(manager.run(module)))
        return failure();
      tamper(pass.name, module);
      size_t before = forms.size();
      if (failed(addForm(pass.name)))
        return failure();
      if (!options.full)
        continue;
      if (forms.size() == before)
        progress(pass.name, "changes nothing");
      else if (failed(checkForm(before)))
        return failure();
      worked(cost.passes / count);
      if (found.fault)
        return success();
    }
  return success();
}

LogicalResult Verification::checkPlan() {
  auto check = [&](StringRef pass, bool offsets, double seconds, FindBlame blame) {
    double largest = 0;
    auto run = [&](const Sample &sample, Wanted wanted) {
      return interpretPlan(module, results, sample.feed, offsets, wanted);
    };
    if (failed(compareSamples(pass, seconds, nullptr, run, largest, blame)))
      return failure();
    if (!found.fault && (options.full || offsets))
      progress(pass, llvm::formatv("agrees (to {0:e1}){1}", largest,
                                   options.full ? "" : ", and so do all passes before it")
                         .str());
    found.largestExact = std::max(found.largestExact, largest);
    return success();
  };
  auto checkBuffers = [&] {
    return check("lower-to-plan", false, options.full ? cost.plan / 2 : 0,
                 [&](const Disagreement &what, const Feed &feed) {
                   return blamePlan(last(), module, what, feed);
                 });
  };
  if (failed(lowerToPlan(module, options.target)))
    return failure();
  tamper("lower-to-plan", module);
  if (options.full && failed(checkBuffers()))
    return failure();
  if (found.fault)
    return success();
  PassManager manager(module.getContext());
  manager.addPass(createAssignOffsets());
  if (failed(manager.run(module)))
    return failure();
  tamper("assign-offsets", module);
  found.passes += 2;
  if (failed(check("assign-offsets", true, options.full ? cost.plan / 2 : cost.plan,
                   [&](const Disagreement &what, const Feed &feed) {
                     return blameOffsets(module, what, feed);
                   })))
    return failure();
  return found.fault && !options.full ? findPass(checkBuffers) : success();
}

/// The plan is wrong: finds what is so first, by the order in which it came to be.
LogicalResult Verification::findPass(llvm::function_ref<LogicalResult()> checkBuffers) {
  VerifyFault inTheEnd = *std::exchange(found.fault, std::nullopt);
  for (size_t number = 1; number < forms.size() && !found.fault; ++number)
    if (failed(checkForm(number)))
      return failure();
  if (!found.fault && failed(checkBuffers()))
    return failure();
  if (!found.fault)
    found.fault = std::move(inTheEnd);
  return success();
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

static bool sameBits(const Tensor &a, const Tensor &b) {
  return llvm::equal(a.values, b.values,
                     [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

FailureOr<std::vector<Disagreement>> Verification::differingInF32(Sample &sample,
                                                                  const Outcome &outcome) {
  std::vector<Disagreement> wrong = disagreements(outcome, sample.truth, true, found.largestResult);
  if (sample.moment == Moment::notFinite) {
    llvm::erase_if(wrong, [](const Disagreement &one) {
      return one.kind == ResultKind::output || one.kind == ResultKind::gradient;
    });
    return wrong;
  }
  if (wrong.empty())
    return wrong;
  FailureOr<Outcome> allowance =
      gradientAllowance(twin(), sample.feed, sample.truth, gradientTolerance);
  if (failed(allowance))
    return failure();
  wrong = disagreements(outcome, sample.truth, true, found.largestResult, &*allowance);
  if (wrong.empty())
    return wrong;
  // What cancels, or decides a branch, may be off by more than its norm says.
  FailureOr<Outcome> rounding = roundingAllowance(last(), sample.feed, sample.truth);
  if (failed(rounding))
    return failure();
  raiseTo(*allowance, *rounding);
  return disagreements(outcome, sample.truth, true, found.largestResult, &*allowance);
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
  auto run = [&](CompiledProgram &on, const Sample &sample) {
    auto runEntry = [&](StringRef entry, const Tensors &inputs,
                        std::map<std::string, Tensor> &variables) -> FailureOr<Tensors> {
      on.setVariables(variables);
      Tensors outputs = on.run(entry, inputs);
      variables = on.variables();
      return outputs;
    };
    return results.collect(sample.feed, runEntry,
                           [&](StringRef entry) { return wants(sample, entry); });
  };
  for (Sample &sample : samples) {
    // What is not a number is only expected to leave all variables as they were: a product with 0,
    // of a masked token say, is NaN in compiled code and nothing on the interpreter.
    bool finite = sample.moment != Moment::notFinite;
    std::optional<CheckActions> checker;
    if (finite)
      checker.emplace(program.program(), module);
    FailureOr<Outcome> outcome = run(program, sample);
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
    FailureOr<std::vector<Disagreement>> wrong = differingInF32(sample, *outcome);
    if (failed(wrong))
      return failure();
    if (!wrong->empty()) {
      reportFirst("artifact", sample, *wrong, std::nullopt);
      return success();
    }
    worked(cost.actions / samples.size());
    FailureOr<Outcome> again = run(threaded, sample);
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
  for (Stage stage : {&Verification::checkGradients, &Verification::runPasses,
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
