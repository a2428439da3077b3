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

std::string leastOffload(ModuleOp module, const PipelineOptions &options, bool cut) {
  PipelineOptions changed = options;
  auto fits = [&](StringRef what) {
    changed.offload = what;
    if (cut)
      return bestMicrobatches(module, changed) != 0;
    auto report = tryOut(module, changed);
    return report && report->fits;
  };
  if (fits(""))
    return "";
  for (StringRef what : offloads())
    if (fits(what))
      return what.str();
  return offloads().back().str(); // of which it is said what does not fit
}

/// Options that keep less in the device's memory.
static std::vector<std::string> waysToOffload(ModuleOp module, PipelineOptions options,
                                              const MemoryReport &whole) {
  if (!options.offload.empty())
    return {};
  for (StringRef what : offloads()) {
    options.offload = what;
    if (auto report = tryOut(module, options); report && report->fits)
      return {
          llvm::formatv("--offload {0} fits: {1}, {2:f1} % more time by estimate where no "
                        "transfer runs beside kernels{3}",
                        what, bytesText(report->bytes), 100 * (report->seconds / whole.seconds - 1),
                        options.target->stagesPorts() ? "" : "; run it with --offload-dir DIR")};
  }
  return {};
}

std::vector<std::string> waysToFit(ModuleOp module, const PipelineOptions &options) {
  PipelineOptions unbounded = options;
  unbounded.memory = 0;
  std::optional<MemoryReport> whole = tryOut(module, unbounded);
  if (!whole)
    return {};
  std::vector<std::string> ways = waysToOffload(module, options, *whole);
  if (whole->persistent >= options.memory)
    return ways;
  if (options.microbatches == 0)
    if (auto [count, report] = fewestThatFit(module, options); count)
      ways.push_back(llvm::formatv("--microbatches {0} fits: {1}, {2:f1} % more time by estimate",
                                   count, bytesText(report.bytes),
                                   100 * (report.seconds / whole->seconds - 1)));
  if (options.precision != Precision::f32)
    return ways;
  PipelineOptions low = options;
  low.precision = Precision::bf16;
  if (auto report = tryOut(module, low); report && report->fits)
    ways.push_back("--precision bf16 fits: " + bytesText(report->bytes));
  if (ways.empty())
    if (auto [count, report] = fewestThatFit(module, low); count)
      ways.push_back(llvm::formatv("--precision bf16 --microbatches {0} fits: {1}", count,
                                   bytesText(report.bytes)));
  return ways;
}

} // namespace weir
