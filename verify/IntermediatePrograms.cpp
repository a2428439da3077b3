//===- IntermediatePrograms.cpp - A program after each of its passes ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/IntermediatePrograms.h"
#include "ir/weir/program/Gradient.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "verify/Compare.h"
#include "verify/Gradients.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {

llvm::SmallVector<ModuleOp> IntermediatePrograms::IntermediateProgram::programs() {
  llvm::SmallVector<ModuleOp> all;
  for (OwningOpRef<ModuleOp> &one : modules)
    all.push_back(*one);
  return all;
}

ModuleOp IntermediatePrograms::lastWhole() {
  auto last = std::find_if(forms.rbegin(), forms.rend(),
                           [](IntermediateProgram &form) { return !form.isCut; });
  return last->module();
}

/// Every entry as text, to be compared.
static std::map<std::string, std::string> textOf(ArrayRef<ModuleOp> programs) {
  std::map<std::string, std::string> text;
  for (ModuleOp program : programs)
    for (auto function : program.getOps<func::FuncOp>()) {
      llvm::raw_string_ostream stream(text[function.getSymName().str()]);
      function.print(stream);
    }
  return text;
}

LogicalResult IntermediatePrograms::begin() {
  OwningOpRef<ModuleOp> first = differentiated(
      verification.module, [&](ModuleOp copy) { verification.tamper("autodiff", copy); });
  if (!first)
    return failure();
  IntermediateProgram &form = forms.emplace_back();
  form.modules.push_back(std::move(first));
  form.text = textOf(form.programs());
  return success();
}

LogicalResult IntermediatePrograms::addRunnable(IntermediateProgram &form) {
  for (ModuleOp program : verification.programs()) {
    bool open = program.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
    OwningOpRef<ModuleOp> copy = open ? differentiated(program, {}) : program.clone();
    if (!copy)
      return failure();
    form.modules.push_back(std::move(copy));
  }
  return success();
}

LogicalResult IntermediatePrograms::add(StringRef pass) {
  IntermediateProgram form{pass.str(), {}, verification.isCut(), {}};
  if (failed(addRunnable(form)))
    return failure();
  form.text = textOf(form.programs());
  ++verification.found.passes;
  if (form.text == forms.back().text)
    ++verification.found.unchanged;
  else
    forms.push_back(std::move(form));
  return success();
}

std::optional<Blame> IntermediatePrograms::findBlame(IntermediateProgram &before,
                                                     IntermediateProgram &form,
                                                     const Disagreement &what,
                                                     const RandomInputs &feed) {
  if (!form.isCut)
    return blame(before.module(), form.module(), what, feed);
  RankInterpreter after(verification.mesh, form.programs(), verification.ranks.programOf);
  if (!before.isCut)
    return blamePartition(before.module(), after, verification.mesh, what, feed);
  RankInterpreter all(verification.mesh, before.programs(), verification.ranks.programOf);
  return blame(all, after, verification.ranks.firstRank, what, feed);
}

LogicalResult IntermediatePrograms::check(size_t number) {
  IntermediateProgram &form = forms[number], &before = forms[number - 1];
  double largest = 0;
  auto changed = [&](StringRef entry) {
    auto was = before.text.find(entry.str()), is = form.text.find(entry.str());
    return was == before.text.end() || is == form.text.end() || was->second != is->second;
  };
  auto run = [&](const Sample &sample, Wanted wanted) -> FailureOr<Outcome> {
    if (form.isCut)
      return verification.runRanks(form.pass, form.programs(), sample.feed, false, wanted);
    Interpreter interpreter;
    return interpret(form.module(), sample.feed, interpreter, wanted);
  };
  auto named = [&](const Disagreement &what, const RandomInputs &feed) {
    return findBlame(before, form, what, feed);
  };
  if (form.isCut)
    verification.prove(form.pass, form.programs());
  if (verification.found.fault)
    return success();
  if (failed(samples.compare(form.pass, 0, changed, run, largest, named)))
    return success(verification.found.fault.has_value());
  verification.found.largestExact = std::max(verification.found.largestExact, largest);
  if (!verification.found.fault && verification.options.full)
    verification.progress(form.pass, llvm::formatv("agrees (to {0:e1})", largest).str());
  return success();
}

LogicalResult IntermediatePrograms::beginAnew() {
  size_t last = forms.size() - 1;
  if (!verification.options.full && last > 1 && failed(check(last - 1)))
    return failure();
  if (verification.found.fault)
    return success();
  Outcome before = samples.middle().truth;
  forms.erase(forms.begin(), forms.begin() + last);
  forms.front().modules.front() = marked->clone();
  samples.addVariables();
  verification.results = Results(verification.module);
  if (failed(samples.takeTruth(first())))
    return failure();
  double apart = 0;
  for (const auto &[entry, results] : samples.middle().truth)
    for (auto [is, was] : llvm::zip(results, before.at(entry))) // new variables are behind
      if (!is.exact)
        apart = std::max(apart, compare(is.value, was.value, 0, 0).relative);
  verification.progress(forms.front().pass,
                        llvm::formatv("results are up to {0:e1} from what they were; from here "
                                      "on they are what is true",
                                      apart)
                            .str());
  return success();
}

LogicalResult IntermediatePrograms::mark(StringRef group, const PipelinePass &pass) {
  if (group == "recipe")
    return runPass(pass.name, *marked, verification.pipeline);
  if (group != "precision")
    return success();
  marked = verification.module.clone();
  markGradients(*marked);
  return success();
}

LogicalResult IntermediatePrograms::runPasses() {
  const VerifyOptions &options = verification.options;
  size_t count = 0;
  for (const PassGroup &group : passGroupsOnTensors())
    count += group.passes.size();
  for (const PassGroup &group : passGroupsOnTensors())
    for (const PipelinePass &pass : group.passes) {
      if (failed(verification.run(pass.name)))
        return failure();
      if (failed(mark(group.name, pass)))
        return failure();
      size_t before = forms.size();
      if (failed(add(pass.name)))
        return failure();
      verification.forgetLayouts();
      if (pass.changesNumbers && forms.size() > before) {
        if (failed(beginAnew()))
          return failure();
        if (verification.found.fault)
          return success();
        continue;
      }
      if (!options.full)
        continue;
      if (forms.size() == before)
        verification.progress(pass.name, "changes nothing");
      else if (failed(check(before)))
        return failure();
      verification.worked(verification.cost.passes / count);
      if (verification.found.fault)
        return success();
    }
  return success();
}

LogicalResult IntermediatePrograms::findFault() {
  for (size_t number = 1; number < forms.size() && !verification.found.fault; ++number)
    if (failed(check(number)))
      return failure();
  return success();
}

} // namespace weir
