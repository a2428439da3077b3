//===- FitMemory.cpp - Ways of a program into a budget --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/planning/FitMemory.h"
#include "ir/weir/Program.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/program/Microbatches.h"
#include "passes/stages/Schedules.h"
#include "planner/Facts.h"
#include "strategy/Fields.h"
#include "support/Sizes.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace weir {

SmallVector<int64_t> divisorsOf(int64_t rows, size_t about) {
  std::vector<int64_t> divisors = planner::divisorsOf(rows);
  SmallVector<int64_t> all(divisors.begin(), divisors.end()), some;
  if (all.size() <= about)
    return all;
  for (size_t i = 0; i < about; ++i) {
    double wanted = std::log(double(rows)) * double(i) / double(about - 1);
    auto distance = [&](int64_t one) { return std::abs(std::log(double(one)) - wanted); };
    int64_t nearest = *std::min_element(
        all.begin(), all.end(), [&](int64_t a, int64_t b) { return distance(a) < distance(b); });
    if (some.empty() || some.back() != nearest)
      some.push_back(nearest);
  }
  return some;
}

/// Stages are of many kinds, and the step is as slow as the slowest, behind its bubble: that most
/// is asked of each. Of other meshes' ranks the fullest is asked alone.
static LogicalResult tryStages(ModuleOp module, PipelineOptions options, MemoryReport &most) {
  if (failed(runPassGroups(module, options, "layouts")))
    return failure();
  const Strategy &strategy = options.strategy;
  bool all = true;
  for (int64_t rank : rankPrograms(module, strategy.mesh).firstRank) {
    OwningOpRef<ModuleOp> program(module.clone());
    MemoryReport report;
    report.explained = false;
    options.rank = rank;
    options.memoryReport = &report;
    all &= succeeded(runPassGroups(*program, options, "fuse", "partition"));
    most.fits &= report.fits;
    most.seconds = std::max(most.seconds, report.seconds);
    most.ofThread = std::max(most.ofThread, report.ofThread);
    if (report.bytes > most.bytes) {
      most.bytes = report.bytes;
      most.persistent = report.persistent;
      most.parameters = report.parameters;
      most.optimizer = report.optimizer;
    }
  }
  int64_t microbatches = 1;
  module.lookupSymbol<func::FuncOp>("step").walk(
      [&](MicrobatchesOp loop) { microbatches = int64_t(loop.getCount()); });
  const stages::Schedule schedule = stages::scheduleOf(*strategy.schedule);
  most.seconds *= 1 + schedule.bubble({strategy.stages(), schedule.chunks, microbatches});
  return success(all);
}

std::optional<MemoryReport> FitMemory::tryOut(const PipelineOptions &options) {
  const std::string key = strategy::textOf(options.strategy);
  if (auto known = tried.find(key); known != tried.end())
    return known->second;
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](mlir::Diagnostic &) { return mlir::success(); });
  OwningOpRef<ModuleOp> copy(module.clone());
  MemoryReport report;
  report.explained = false;
  PipelineOptions changed = options;
  changed.watch = nullptr;
  changed.afterPassGroup = nullptr;
  changed.dumpKernels = nullptr;
  changed.time = nullptr;
  changed.memoryReport = &report;
  const Strategy &strategy = options.strategy;
  if (strategy.stages() == 1)
    changed.rank = strategy.mesh.fullestRank();
  bool compiled = succeeded(strategy.stages() > 1 ? tryStages(*copy, changed, report)
                                                  : runPassGroups(*copy, changed, "fuse"));
  std::optional<MemoryReport> &result = tried[key];
  if (compiled || !report.fits)
    result = report;
  return result;
}

SmallVector<int64_t> FitMemory::counts() const {
  SmallVector<int64_t> all = {1};
  module->walk([&](MicrobatchesOp op) {
    if (op.getSliced().empty())
      return WalkResult::advance();
    all = divisorsOf(shapeOf(op.getBody().getArgument(1))[0]);
    for (int64_t &one : all)
      one *= int64_t(op.getCount());
    return WalkResult::interrupt();
  });
  return all;
}

/// The more there are, the less each takes: halves what is left to look at. Of too few rows each
/// there may be no program.
std::pair<int64_t, MemoryReport> FitMemory::fewestThatFit(PipelineOptions options) {
  SmallVector<int64_t> all = counts();
  std::pair<int64_t, MemoryReport> fewest = {0, {}};
  size_t low = 1, high = all.size(); // what is below `low` does not fit
  for (size_t at = high - 1; low < high && at >= low; at = (low + high) / 2) {
    options.strategy.microbatches = all[at];
    std::optional<MemoryReport> report = tryOut(options);
    if (report && !report->fits) {
      low = at + 1;
      continue;
    }
    if (report)
      fewest = {all[at], *report};
    high = at;
  }
  return fewest;
}

int64_t FitMemory::bestMicrobatches(const PipelineOptions &options) {
  PipelineOptions changed = options;
  int64_t best = 0;
  double least = 0;
  for (int64_t count : counts()) {
    changed.strategy.microbatches = count;
    auto report = fitting(changed);
    if (!report || (best && report->seconds >= least))
      continue;
    best = count;
    least = report->seconds;
  }
  return best;
}

/// What of a program may lie with the host besides what is to, the least first.
static std::vector<Offload> waysToOffload(const Offload &given, bool hasStages) {
  std::vector<Offload> all;
  for (OffloadedVariables variables :
       {OffloadedVariables::none, OffloadedVariables::optimizer, OffloadedVariables::parameters})
    for (bool activations : {false, true})
      if (Offload one{variables, activations}; variables >= given.variables &&
                                               (activations || !given.activations) &&
                                               !(activations && hasStages) && !(one == given))
        all.push_back(one);
  return all;
}

/// Whether what is left on the device throughout fits; the report is of the program without `what`.
static bool mayHelp(const Offload &what, const MemoryReport &report, int64_t memory) {
  int64_t left = report.persistent;
  if (what.variables != OffloadedVariables::none)
    left -= report.optimizer;
  if (what.variables == OffloadedVariables::parameters)
    left -= report.parameters;
  return left < memory;
}

Offload FitMemory::leastOffload(const PipelineOptions &options, bool cut) {
  PipelineOptions changed = options;
  changed.strategy.offload = Offload{};
  if (cut)
    changed.strategy.microbatches = counts().front();
  std::optional<MemoryReport> nothing = tryOut(changed);
  auto fits = [&](const Offload &what) {
    changed.strategy.offload = what;
    if (!nothing || !mayHelp(what, *nothing, *options.strategy.memory))
      return false;
    return cut ? bestMicrobatches(changed) != 0 : fitting(changed).has_value();
  };
  if (fits({}))
    return {};
  std::vector<Offload> ways = waysToOffload({}, options.strategy.stages() > 1);
  for (const Offload &what : ways)
    if (fits(what))
      return what;
  return ways.back(); // of which it is said what does not fit
}

/// What the kinds of suggestions share.
struct FitMemory::Suggestions {
  const PipelineOptions &options;
  const Words &words;
  llvm::function_ref<void(const std::string &)> tell;
  MemoryReport whole;               ///< of the program without a budget
  std::vector<Offload> offloadings; ///< that may help, the least first
  bool any = false;                 ///< whether one has been told

  const Strategy &strategy() const { return options.strategy; }
  /// Whether the memory that lives throughout the step fits.
  bool fixedFits() const { return whole.persistent < *strategy().memory; }
  bool mayCut() const { return !strategy().microbatches; }
  void say(const std::string &given, const PipelineOptions &changed, const MemoryReport &report);
};

void FitMemory::Suggestions::say(const std::string &given, const PipelineOptions &changed,
                                 const MemoryReport &report) {
  any = true;
  bool offloaded = changed.strategy.offload->any();
  bool goesElsewhere = *changed.strategy.offload != *strategy().offload;
  double more = 100 * (report.seconds / whole.seconds - 1);
  std::string line = llvm::formatv(
      "{0}{1} fits: {2}, an estimated {3:f1} % {4} time", goesElsewhere ? words.budget : "", given,
      bytesText(report.bytes), std::abs(more), more < 0 ? "less" : "more");
  if (goesElsewhere)
    line += " if transfers do not overlap kernels";
  if (int64_t threads = changed.strategy.threads; threads < strategy().threads)
    line += ", on " + std::to_string(threads * words.ranks) + " of " +
            std::to_string(strategy().threads * words.ranks) + " threads";
  if (offloaded && !options.target->stagesPorts() && !words.hasFolder)
    line += "; run with --offload-dir DIR";
  tell(line);
}

static std::string microbatchesOption(int64_t count) {
  return "--microbatches " + std::to_string(count);
}

void FitMemory::suggestLeastOffload(Suggestions &found, PipelineOptions changed,
                                    const std::string &more) {
  for (const Offload &what : found.offloadings) {
    changed.strategy.offload = what;
    if (auto report = fitting(changed))
      return found.say("--offload " + strategy::textOf(what) + more, changed, *report);
  }
}

void FitMemory::suggestOffload(Suggestions &found) {
  if (found.offloadings.empty())
    return;
  // The last leaves least on the device: if the program does not fit with it, it fits with none.
  PipelineOptions changed = found.options;
  changed.strategy.offload = found.offloadings.back();
  if (fitting(changed))
    suggestLeastOffload(found, changed, "");
}

void FitMemory::suggestMicrobatches(Suggestions &found, const std::string &ahead,
                                    const PipelineOptions &changed) {
  if (auto [count, report] = fewestThatFit(changed); count)
    found.say(ahead + microbatchesOption(count), changed, report);
}

void FitMemory::suggestOffloadAndMicrobatches(Suggestions &found) {
  if (found.offloadings.empty())
    return;
  PipelineOptions changed = found.options;
  changed.strategy.offload = found.offloadings.back();
  if (int64_t count = fewestThatFit(changed).first) {
    changed.strategy.microbatches = count;
    suggestLeastOffload(found, changed, " " + microbatchesOption(count));
  }
}

void FitMemory::suggestThreads(Suggestions &found) {
  const MemoryReport &whole = found.whole;
  const int64_t memory = *found.strategy().memory, threads = found.strategy().threads;
  int64_t ofOthers = whole.ofThread * (threads - 1);
  if (ofOthers <= 0 || whole.persistent - ofOthers >= memory)
    return;
  PipelineOptions changed = found.options;
  int64_t fewer = (whole.bytes - memory + whole.ofThread - 1) / whole.ofThread;
  changed.strategy.threads = std::clamp<int64_t>(threads - fewer, 1, threads - 1);
  if (auto report = fitting(changed))
    found.say("--threads " + std::to_string(changed.strategy.threads * found.words.ranks), changed,
              *report);
}

void FitMemory::suggestPrecision(Suggestions &found) {
  if (*found.strategy().precision != Precision::f32 || !found.fixedFits())
    return;
  PipelineOptions changed = found.options;
  changed.strategy.precision = Precision::bf16;
  if (auto report = fitting(changed))
    found.say("--precision bf16", changed, *report);
  if (!found.any && found.mayCut())
    suggestMicrobatches(found, "--precision bf16 ", changed);
}

void FitMemory::suggestParamType(Suggestions &found) {
  const MemoryReport &whole = found.whole;
  int64_t narrowed = (whole.parameters + whole.optimizer) / 2;
  if (*found.strategy().paramType != Element::f32 || found.fixedFits() ||
      whole.persistent - narrowed >= *found.strategy().memory)
    return;
  PipelineOptions changed = found.options;
  changed.strategy.paramType = Element::bf16;
  if (auto report = fitting(changed))
    found.say("--param-dtype bf16", changed, *report);
}

void FitMemory::tellWays(const PipelineOptions &options, const Words &words,
                         llvm::function_ref<void(const std::string &)> tell) {
  const Strategy &strategy = options.strategy;
  PipelineOptions unbounded = options;
  unbounded.strategy.memory.reset();
  std::optional<MemoryReport> whole = tryOut(unbounded);
  if (!whole)
    return;
  Suggestions found{options, words, tell, *whole,
                    waysToOffload(*strategy.offload, strategy.stages() > 1)};
  llvm::erase_if(found.offloadings,
                 [&](const Offload &what) { return !mayHelp(what, *whole, *strategy.memory); });
  suggestOffload(found);
  if (found.mayCut() && found.fixedFits())
    suggestMicrobatches(found, "", options);
  if (found.mayCut() && !found.any)
    suggestOffloadAndMicrobatches(found);
  suggestThreads(found);
  suggestPrecision(found);
  suggestParamType(found);
}

} // namespace weir
