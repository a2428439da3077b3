//===- Verify.cpp - Every pass proven by running it -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Verify.h"
#include "codegen/artifact/Writer.h"
#include "codegen/plan/LowerToPlan.h"
#include "ir/weir/Locations.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "verify/Blame.h"
#include "verify/CheckActions.h"
#include "verify/Compare.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {
namespace {

class Verification {
public:
  Verification(ModuleOp module, const VerifyOptions &options)
      : module(module), options(options), results(module) {}

  FailureOr<VerifyReport> run();

private:
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
  bool agree(StringRef pass, const Outcome &outcome, bool inF32, double &largest,
             llvm::function_ref<std::optional<Blame>(const Disagreement &)> blame);
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
  Feed feed;
  Outcome truth;
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

bool Verification::agree(StringRef pass, const Outcome &outcome, bool inF32, double &largest,
                         llvm::function_ref<std::optional<Blame>(const Disagreement &)> blame) {
  std::vector<Disagreement> wrong = disagreements(outcome, truth, inF32, largest);
  if (wrong.empty())
    return true;
  const Disagreement &first = wrong.front();
  report(pass, llvm::formatv("`{0}` of @{1}", first.name, first.entry).str(),
         named(blame(first)),
         llvm::formatv("element {0} should be {1:e9} but is {2:e9} ({3} result{4} in all)",
                       first.index, first.expected, first.found, wrong.size(),
                       wrong.size() == 1 ? "" : "s")
             .str());
  return false;
}

//===----------------------------------------------------------------------===//
// Gradients against differences
//===----------------------------------------------------------------------===//

LogicalResult Verification::checkGradients() {
  auto tampering = [&](ModuleOp copy) { tamper("autodiff", copy); };
  OwningOpRef<ModuleOp> twin = differentiated(module, tampering);
  if (!twin)
    return failure();
  Interpreter plain;
  FailureOr<Outcome> outcome = interpret(*twin, feed, plain);
  if (failed(outcome))
    return failure();
  truth = *outcome;
  for (const auto &[entry, list] : truth)
    found.results += list.size();

  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef entry = function.getSymName();
    if (function.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted() ==
        false)
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
    report("autodiff", wrong, named(blameGradient(module, entry, feed, tampering)),
           llvm::formatv("central differences of the loss are off by {0:e3} of its norm", off)
               .str());
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
  Interpreter interpreter;
  FailureOr<Outcome> outcome = interpret(**current, feed, interpreter);
  if (failed(outcome))
    return failure();
  double largest = 0;
  bool same = agree(pass.name, *outcome, false, largest, [&](const Disagreement &what) {
    return blame(*previous, **current, what, feed);
  });
  found.largestExact = std::max(found.largestExact, largest);
  ++found.passes;
  if (same)
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
  auto check = [&](StringRef pass, bool offsets,
                   llvm::function_ref<std::optional<Blame>(const Disagreement &)> blame) {
    tamper(pass, module);
    FailureOr<Outcome> outcome = interpretPlan(module, results, feed, offsets);
    if (failed(outcome))
      return failure();
    double largest = 0;
    if (agree(pass, *outcome, false, largest, blame))
      progress(pass, llvm::formatv("agrees (to {0:e1})", largest).str());
    found.largestExact = std::max(found.largestExact, largest);
    ++found.passes;
    return success();
  };
  if (failed(lowerToPlan(module, options.target)) ||
      failed(check("lower-to-plan", false, [&](const Disagreement &what) {
        return blamePlan(*previous, module, what, feed);
      })))
    return failure();
  if (found.fault)
    return success();
  PassManager manager(module.getContext());
  manager.addPass(createAssignOffsets());
  if (failed(manager.run(module)))
    return failure();
  return check("assign-offsets", true,
               [&](const Disagreement &what) { return blameOffsets(module, what, feed); });
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

LogicalResult Verification::checkArtifact() {
  FailureOr<std::vector<char>> code =
      compileKernels(kernelsOf(module), options.target, [&](StringRef phase, ModuleOp kernels) {
        if (phase == "emitted")
          tamper("codegen", kernels);
      });
  if (failed(code))
    return failure();
  for (auto kernel : module.getOps<plan::KernelOp>())
    found.kernels += kernel ? 1 : 0;
  CompiledProgram program(writeArtifact(module, *code));
  CheckActions checker(program.program(), module);
  FailureOr<Outcome> outcome = results.collect(
      feed, [&](StringRef entry, const Tensors &inputs,
                std::map<std::string, Tensor> &variables) -> FailureOr<Tensors> {
        program.setVariables(variables);
        Tensors outputs = program.run(entry, inputs);
        variables = program.variables();
        return outputs;
      });
  if (failed(outcome))
    return failure();
  found.actions = checker.checked().actions;
  found.largestAction = checker.checked().largest;
  if (!checker.mismatches().empty()) {
    const ActionMismatch &first = checker.mismatches().front();
    report("codegen", "@" + first.entry,
           Named{first.op + " in the " + first.work, first.place, "it is not what the plan means"},
           first.detail);
    return success();
  }
  progress("codegen", llvm::formatv("{0} actions do what they mean (to {1:e1})", found.actions,
                                    found.largestAction)
                          .str());
  if (agree("artifact", *outcome, true, found.largestResult,
            [](const Disagreement &) { return std::nullopt; }))
    progress("artifact", llvm::formatv("{0} results agree (to {1:e1})", found.results,
                                       found.largestResult)
                             .str());
  return success();
}

FailureOr<VerifyReport> Verification::run() {
  nameEntryPorts(module);
  results = Results(module);
  FailureOr<Feed> made = makeFeed(module, options.seed);
  if (failed(made))
    return failure();
  feed = std::move(*made);
  for (Stage stage : {&Verification::checkGradients, &Verification::checkPasses,
                      &Verification::checkPlan, &Verification::checkArtifact}) {
    if (failed((this->*stage)()))
      return failure();
    if (found.fault)
      break;
  }
  return found;
}

} // namespace

FailureOr<VerifyReport> verifyProgram(ModuleOp module, const VerifyOptions &options) {
  return Verification(module, options).run();
}

} // namespace weir
