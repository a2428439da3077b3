//===- FitMemory.cpp - Ways of a program into a budget --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/FitMemory.h"
#include "ir/weir/Names.h"
#include "runtime/base/Sizes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {
namespace {

/// How often a batch is halved.
constexpr int mostHalves = 6;

/// What the program takes with these options; nothing where it cannot be compiled so.
std::optional<MemoryReport> tryOut(ModuleOp module, PipelineOptions options) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(module.clone());
  MemoryReport report;
  report.explained = false;
  options.watch = nullptr;
  options.dumpKernels = nullptr;
  options.time = nullptr;
  options.memoryReport = &report;
  bool compiled = succeeded(runPhases(*copy, options, "fuse"));
  if (!compiled && report.fits)
    return std::nullopt;
  return report;
}

int64_t recipeCount(ModuleOp module) {
  auto count = module->getAttrOfType<IntegerAttr>(accumulateAttrName);
  return count ? std::max<int64_t>(1, count.getInt()) : 1;
}

/// The fewest microbatches beyond the recipe's with which it fits; their number is 0 if none do.
std::pair<int64_t, MemoryReport> fewestThatFit(ModuleOp module, PipelineOptions options) {
  for (int i = 1; i <= mostHalves; ++i) {
    options.microbatches = recipeCount(module) << i;
    if (auto report = tryOut(module, options); report && report->fits)
      return {options.microbatches, *report};
  }
  return {0, {}};
}

} // namespace

int64_t bestMicrobatches(ModuleOp module, const PipelineOptions &options) {
  PipelineOptions changed = options;
  int64_t best = 0;
  double least = 0;
  for (int i = 0; i <= mostHalves; ++i) {
    changed.microbatches = recipeCount(module) << i;
    auto report = tryOut(module, changed);
    if (!report || !report->fits || (best && report->seconds >= least))
      continue;
    best = changed.microbatches;
    least = report->seconds;
  }
  return best;
}

/// What of a program may lie with the host besides what is to, the least first.
static std::vector<Offloaded> waysToOffload(const Offloaded &given) {
  std::vector<StringRef> variables = {""};
  llvm::append_range(variables, offloads());
  std::vector<Offloaded> all;
  for (auto from = llvm::find(variables, given.variables); from != variables.end(); ++from)
    for (bool activations : {false, true})
      if (Offloaded one{from->str(), activations};
          (activations || !given.activations) && !(one == given))
        all.push_back(one);
  return all;
}

/// The words of --offload.
static std::string textOf(const Offloaded &offloaded) {
  if (offloaded.activations)
    return offloaded.variables.empty() ? "activations" : "activations," + offloaded.variables;
  return offloaded.variables;
}

Offloaded leastOffload(ModuleOp module, const PipelineOptions &options, bool cut) {
  PipelineOptions changed = options;
  auto fits = [&](const Offloaded &what) {
    changed.offload = what;
    if (cut)
      return bestMicrobatches(module, changed) != 0;
    auto report = tryOut(module, changed);
    return report && report->fits;
  };
  if (fits({}))
    return {};
  std::vector<Offloaded> ways = waysToOffload({});
  for (const Offloaded &what : ways)
    if (fits(what))
      return what;
  return ways.back(); // of which it is said what does not fit
}

void tellWaysToFit(ModuleOp module, const PipelineOptions &options,
                   llvm::function_ref<void(const std::string &)> tell) {
  PipelineOptions unbounded = options;
  unbounded.memory = 0;
  std::optional<MemoryReport> whole = tryOut(module, unbounded);
  if (!whole)
    return;
  bool any = false;
  auto say = [&](const std::string &line) {
    any = true;
    tell(line);
  };
  auto sayPrice = [&](const std::string &words, const MemoryReport &report, bool offloaded) {
    double more = 100 * (report.seconds / whole->seconds - 1);
    std::string line = llvm::formatv("{0} fits: {1}, {2:f1} % more time by estimate", words,
                                     bytesText(report.bytes), more);
    if (offloaded)
      line += " where no transfer runs beside kernels";
    if (offloaded && !options.target->stagesPorts())
      line += "; run it with --offload-dir DIR";
    say(line);
  };
  bool fixedFits = whole->persistent < options.memory;
  PipelineOptions changed = options;
  std::vector<Offloaded> offloadings = waysToOffload(options.offload);
  for (const Offloaded &what : offloadings) {
    if (what.variables.empty() && !fixedFits)
      continue;
    changed.offload = what;
    if (auto report = tryOut(module, changed); report && report->fits) {
      sayPrice("--offload " + textOf(what), *report, true);
      break;
    }
  }
  if (options.microbatches == 0 && fixedFits)
    if (auto [count, report] = fewestThatFit(module, options); count)
      sayPrice("--microbatches " + std::to_string(count), report, false);
  // Both, where neither is enough.
  if (!any && options.microbatches == 0)
    for (const Offloaded &what : offloadings) {
      if (what.variables.empty() && !fixedFits)
        continue;
      changed.offload = what;
      auto [count, report] = fewestThatFit(module, changed);
      if (!count)
        continue;
      sayPrice("--offload " + textOf(what) + " --microbatches " + std::to_string(count), report,
               true);
      break;
    }
  if (options.precision != Precision::f32 || !fixedFits)
    return;
  PipelineOptions low = options;
  low.precision = Precision::bf16;
  if (auto report = tryOut(module, low); report && report->fits)
    say("--precision bf16 fits: " + bytesText(report->bytes));
  if (!any)
    if (auto [count, report] = fewestThatFit(module, low); count)
      say(llvm::formatv("--precision bf16 --microbatches {0} fits: {1}", count,
                        bytesText(report.bytes)));
}

} // namespace weir
