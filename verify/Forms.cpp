//===- Forms.cpp - A program after each of its passes ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Forms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "verify/Compare.h"
#include "verify/Gradients.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {

/// Every entry as text, to be compared.
static std::map<std::string, std::string> textOf(ModuleOp module) {
  std::map<std::string, std::string> text;
  for (auto function : module.getOps<func::FuncOp>()) {
    llvm::raw_string_ostream stream(text[function.getSymName().str()]);
    function.print(stream);
  }
  return text;
}

LogicalResult Forms::begin() {
  OwningOpRef<ModuleOp> first = differentiated(
      verification.module, [&](ModuleOp copy) { verification.tamper("autodiff", copy); });
  if (!first)
    return failure();
  std::map<std::string, std::string> text = textOf(*first);
  forms.push_back({"", std::move(first), std::move(text)});
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> Forms::runnable() {
  bool open =
      verification.module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
  OwningOpRef<ModuleOp> copy =
      open ? differentiated(verification.module, {}) : verification.module.clone();
  if (!copy)
    return failure();
  return copy;
}

LogicalResult Forms::add(StringRef pass) {
  FailureOr<OwningOpRef<ModuleOp>> current = runnable();
  if (failed(current))
    return failure();
  Form form{pass.str(), std::move(*current), {}};
  form.text = textOf(*form.module);
  ++verification.found.passes;
  if (form.text == forms.back().text)
    ++verification.found.unchanged;
  else
    forms.push_back(std::move(form));
  return success();
}

LogicalResult Forms::check(size_t number) {
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
  if (failed(samples.compare(form.pass, 0, changed, run, largest, findBlame)))
    return failure();
  verification.found.largestExact = std::max(verification.found.largestExact, largest);
  if (!verification.found.fault && verification.options.full)
    verification.progress(form.pass, llvm::formatv("agrees (to {0:e1})", largest).str());
  return success();
}

LogicalResult Forms::beginAnew() {
  size_t last = forms.size() - 1;
  if (!verification.options.full && last > 1 && failed(check(last - 1)))
    return failure();
  if (verification.found.fault)
    return success();
  Outcome before = samples.middle().truth;
  forms.erase(forms.begin(), forms.begin() + last);
  forms.front().module = marked->clone();
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

LogicalResult Forms::mark(const PipelinePass &pass) {
  if (pass.name != "mixed-precision")
    return runPass(pass.name, *marked, verification.pipeline);
  marked = verification.module.clone();
  markGradients(*marked);
  return success();
}

LogicalResult Forms::runPasses() {
  ModuleOp module = verification.module;
  const VerifyOptions &options = verification.options;
  size_t count = 0;
  for (const Phase &phase : phasesOnTensors())
    count += phase.passes.size();
  for (const Phase &phase : phasesOnTensors())
    for (const PipelinePass &pass : phase.passes) {
      PassManager manager(module.getContext());
      pass.add(manager, verification.pipeline);
      if (failed(manager.run(module)))
        return failure();
      verification.tamper(pass.name, module);
      if ((phase.name == "precision" || phase.name == "recipe") && failed(mark(pass)))
        return failure();
      size_t before = forms.size();
      if (failed(add(pass.name)))
        return failure();
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

LogicalResult Forms::findFault() {
  for (size_t number = 1; number < forms.size() && !verification.found.fault; ++number)
    if (failed(check(number)))
      return failure();
  return success();
}

} // namespace weir
