//===- PlanModel.cpp - weir plan --------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/PlanModel.h"
#include "codegen/targets/Targets.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/weir/Digest.h"
#include "ir/weir/Names.h"
#include "ir/weir/requests/Recompute.h"
#include "passes/Passes.h"
#include "planner/Search.h"
#include "runtime/cpu/ThreadPool.h"
#include "runtime/report/StatusLine.h"
#include "strategy/Fields.h"
#include "support/Sizes.h"
#include "support/Text.h"
#include "tools/common/Files.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/Numbers.h"
#include "tools/weir/ReportDiagnostics.h"
#include "tools/weir/inspect/PrintFacts.h"
#include "tools/weir/options/PlanFileOptions.h"
#include "tools/weir/options/PrecisionOptions.h"
#include "tools/weir/planning/GivenPlans.h"
#include "tools/weir/planning/PrintPlans.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <iostream>

using namespace mlir;
using nlohmann::ordered_json;

namespace weir {
namespace {

using planner::Allowed;
using planner::Cluster;
using planner::Planned;
using planner::Prediction;
using planner::SearchResult;

int64_t ranksOf(const Planned &plan) { return plan.strategy.mesh.ranks(); }

/// The plan as options, for people.
std::string textOf(const Planned &plan) {
  std::string text = strategy::planText(plan.strategy);
  return text.empty() ? "one device" : text;
}

/// Standard error during a search. Elsewhere than on a terminal, the intervals between lines start
/// at two seconds and double up to half a minute.
class PlanProgress {
public:
  void show(const planner::SearchProgress &now) {
    auto time = Clock::now();
    if (std::chrono::duration<double>(time - shown).count() < interval)
      return;
    shown = time;
    if (!status.live)
      interval = std::min(30.0, 2 * interval);
    std::string text = concat("  ", grouped(now.estimated), " plans estimated, ",
                              grouped(now.lowered), " lowered");
    if (now.fastest)
      text += concat("; fastest so far: ", secondsText(now.fastest->prediction.seconds), " a step",
                     now.fastest->prediction.isLowered ? "" : " (estimated)", ", ",
                     textOf(*now.fastest));
    status.show(text);
  }

private:
  using Clock = std::chrono::steady_clock;
  StatusLine status{stderr};
  double interval = status.live ? 0.1 : 2; ///< seconds
  Clock::time_point shown = Clock::now();
};

/// A model, elaborated, and what is chosen of it.
class Planning {
public:
  explicit Planning(const CompileOptions &options) : options(options), reporter(context, options) {}

  /// `quiet`: warnings are said by whoever compiles it.
  Exit elaborateModel(bool quiet) {
    Diagnostics diagnostics;
    ElaborateResult elaborated = elaborate(options.model, options.sets, sources, context,
                                           diagnostics, {options.gradients, options.warnings});
    module = std::move(elaborated.module);
    if (!module || !quiet)
      reporter.print(diagnostics);
    if (!module)
      return exitOf(elaborated);
    setDigests(*module);
    std::string problem;
    if (OwningOpRef<ModuleOp> copy = module->clone();
        !markRecomputed(*copy, options.strategy.recompute, problem))
      throw Failure(Exit::usage, "--recompute: " + problem);
    facts.emplace(*module);
    if (std::optional<int64_t> asked = options.strategy.microbatches;
        asked && !llvm::is_contained(facts->counts, *asked)) {
      std::vector<std::string> counts;
      for (int64_t count : facts->counts)
        counts.push_back(std::to_string(count));
      throw Failure(Exit::usage,
                    concat("--microbatches ", *asked, " does not split the ", facts->rows,
                           " rows of a step equally: expected ", joinFew(counts, ", ", 12)));
    }
    return Exit::ok;
  }

  void search(const Cluster &onto, const Allowed &allowed) {
    cluster = &onto;
    std::shared_ptr<Target> target = makeTarget(onto.deviceOf(0).target);
    if (!target)
      throw Failure(Exit::usage, concat("a device of ", onto.name, " has the unknown target \"",
                                        onto.deviceOf(0).target, "\": expected ", targetOptions()));
    std::string problem = wrongPrecision(options.strategy, *target);
    if (!problem.empty())
      throw Failure(Exit::usage, problem);
    Strategy asked = options.strategy;
    asked.lossScale = lossScaleFor(asked, *module, problem);
    if (!asked.lossScale)
      throw Failure(Exit::usage, problem);
    // A device's memory is what a plan is chosen by.
    asked.memory.reset();
    asked.threads = threads;
    precision = nameOf(*asked.precision);
    PipelineOptions pipeline{.target = target, .strategy = asked};
    Allowed counted = allowed;
    for (Strategy &given : counted.given) {
      Strategy planned = asked;
      planned.lossScale = options.strategy.lossScale;
      strategy::copyGiven(planned, given);
      planned.memory.reset();
      planned.lossScale = lossScaleFor(planned, *module, problem);
      if (!planned.lossScale)
        throw Failure(Exit::usage, problem);
      given = std::move(planned);
    }
    PlanProgress progress;
    counted.tell = [&](const planner::SearchProgress &now) { progress.show(now); };
    result = planner::search(*module, pipeline, onto, *facts, counted);
  }

  /// FLOPs a second of so many devices, by their data sheets; 0 where one of them does not say.
  double peakOf(int64_t ranks) const {
    double all = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const planner::RateOf &peak = cluster->deviceOf(rank).peak;
      auto found = peak.find(llvm::StringRef(precision).starts_with("f8") ? "f8" : precision);
      if (found == peak.end())
        return 0;
      all += found->second;
    }
    return all;
  }

  const CompileOptions &options;
  int64_t threads = 1; ///< of a rank
  const Cluster *cluster = nullptr;
  std::string precision;
  SourceManager sources;
  MLIRContext context;
  ReportDiagnostics reporter;
  OwningOpRef<ModuleOp> module;
  std::optional<planner::Facts> facts;
  SearchResult result;
};

ordered_json describe(const Planned &plan, const Planning &planning) {
  const Prediction &time = plan.prediction;
  const planner::RankMemory &memory = time.memory;
  const Cluster &cluster = *planning.cluster;
  double ranks = double(ranksOf(plan)), items = planning.facts->items / time.seconds;
  double watts = 0;
  bool saysWatts = true;
  for (int64_t rank = 0; rank < ranksOf(plan); ++rank) {
    watts += cluster.deviceOf(rank).watts;
    saysWatts &= cluster.deviceOf(rank).watts > 0;
  }
  double of = planning.peakOf(ranksOf(plan));
  ordered_json row = {
      {"plan", strategy::planText(plan.strategy)},
      {"fits", time.fits},
      {"link", plan.strategy.link.isGiven() ? plan.strategy.link->text() : ""},
      {"rates", plan.strategy.rates ? plan.strategy.rates->text() : ""},
      {"devices", ranksOf(plan)},
      {"lowered", time.isLowered},
      {"seconds", time.seconds},
      {"computing", time.computing - time.recomputing},
      {"recomputing", time.recomputing},
      {"exposed", time.exposed},
      {"bubble", time.bubble},
      {"communicating", time.communicating},
      {"items_per_second", items},
      {"mfu", of > 0 ? ordered_json(planning.facts->flops / time.seconds / of) : ordered_json()},
      {"joules", saysWatts ? ordered_json(watts * time.seconds) : ordered_json()},
      {"price", cluster.price > 0 ? ordered_json(cluster.price * ranks * time.seconds / 3600)
                                  : ordered_json()},
      {"memory",
       {{"device", memory.device()},
        {"parameters", memory.parameters},
        {"optimizer", memory.optimizer},
        {"state", memory.state},
        {"scratch", memory.scratch},
        {"reserve", memory.reserve},
        {"host", memory.host}}}};
  return row;
}

/// `files`: of Allowed::given.
ordered_json describe(const Planning &planning, const std::vector<std::string> &files,
                      int64_t best) {
  const SearchResult &result = planning.result;
  const Cluster &cluster = *planning.cluster;
  ordered_json plans = ordered_json::array(), reasons = ordered_json::object();
  for (const Planned &plan : llvm::ArrayRef(result.best).take_front(size_t(best))) {
    plans.push_back(describe(plan, planning));
    if (plan.given >= 0)
      plans.back()["file"] = files[size_t(plan.given)];
  }
  for (const auto &[what, why] : result.reasons)
    reasons[what] = why;
  for (const auto &[number, why] : result.unpredicted)
    reasons["--plan " + files[size_t(number)]] = why;
  std::vector<std::string> kinds;
  for (const planner::DeviceGroup &group : cluster.groups)
    kinds.push_back(concat(group.count, " x ", group.device.name));
  ordered_json facts = {{"model", planning.options.model},
                        {"cluster", cluster.name},
                        {"devices", join(kinds)},
                        {"target", cluster.deviceOf(0).target},
                        {"precision", planning.precision},
                        {"rows", planning.facts->rows},
                        {"items", planning.facts->items},
                        {"unit", planning.facts->hasTokens ? "tokens" : "rows"},
                        {"flops", planning.facts->flops},
                        {"bound", result.bound},
                        {"currency", cluster.currency},
                        {"examined", result.examined},
                        {"sampled", result.samples},
                        {"lowered", result.lowered},
                        {"plans", plans},
                        {"unused", reasons}};
  return facts;
}

/// Of the devices of so many ranks, or what --memory says.
int64_t leastMemory(const Planning &planning, int64_t ranks) {
  if (planning.options.strategy.memory)
    return *planning.options.strategy.memory;
  int64_t least = planning.cluster->deviceOf(0).memory;
  for (int64_t rank = 1; rank < ranks; ++rank)
    least = std::min(least, planning.cluster->deviceOf(rank).memory);
  return least;
}

/// Nothing fits, or nothing can be compiled.
Exit sayNothingFits(const Planning &planning) {
  const SearchResult &result = planning.result;
  llvm::errs() << "error: no plan of " << planning.options.model
               << (result.smallest ? " fits on " : " can be compiled for ")
               << planning.cluster->name << "\n";
  if (result.smallest) {
    const Planned &plan = *result.smallest;
    llvm::errs() << "  note: the smallest takes " << (plan.prediction.isLowered ? "" : "about ")
                 << bytesText(plan.prediction.memory.device()) << " of a device's "
                 << bytesText(leastMemory(planning, ranksOf(plan))) << ": " << textOf(plan) << "\n"
                 << "  help: use more devices, devices with more memory, a smaller batch, or "
                    "--param-dtype bf16\n";
  }
  size_t said = 0;
  for (const auto &[what, why] : result.reasons)
    if (said++ < 4)
      llvm::errs() << "  note: " << what << ": " << why << "\n";
  return result.smallest ? Exit::device : Exit::usage;
}

Allowed allowedBy(const PlanModelOptions &plan) {
  Allowed allowed{.fewer = !plan.allDevices,
                  .lowered = plan.lowered >= 0    ? plan.lowered
                             : plan.plans.empty() ? std::max<int64_t>(32, plan.best)
                                                  : int64_t(plan.plans.size())};
  if (!plan.axes.empty())
    allowed.axes = plan.axes;
  return allowed;
}

/// Whether programs with stages of a pipeline are compiled for a target.
bool runsStages(llvm::StringRef target) { return target.starts_with("cpu"); }

/// All but stages.
std::vector<std::string> axesWithoutStages() {
  return {std::string(dataAxis), std::string(expertAxis), std::string(contextAxis),
          std::string(tensorAxis)};
}

planner::PlanFile fileOf(const Planning &planning, const Planned &plan) {
  planner::PlanFile file{plan.strategy, planning.options.model,
                         planning.cluster->deviceOf(0).target};
  file.strategy.precision = *plan.strategy.precision; // a file always says it
  if (plan.given < 0)
    file.strategy.lossScale = planning.options.strategy.lossScale; // not what it stands for
  return file;
}

} // namespace

Exit planModel(const CompileOptions &options, const PlanModelOptions &plan) {
  FatalErrors ends;
  Cluster cluster = planner::readCluster(plan.cluster);
  const Mesh &asked = options.strategy.mesh;
  if (asked.ranks() > cluster.devices())
    throw Failure(Exit::usage, concat("--mesh ", asked.text(), " needs ", asked.ranks(),
                                      " devices, but ", cluster.name, " has ", cluster.devices()));
  Allowed allowed = allowedBy(plan);
  const std::string &target = cluster.deviceOf(0).target;
  const bool leavesStagesOut =
      !runsStages(target) && plan.axes.empty() && !options.strategy.hasMesh();
  if (leavesStagesOut)
    allowed.axes = axesWithoutStages();
  allowed.given = readGivenPlans(options, plan.plans, cluster);
  Planning planning(options);
  if (Exit exit = planning.elaborateModel(false); exit != Exit::ok)
    return exit;
  planning.search(cluster, allowed);
  const std::vector<Planned> &best = planning.result.best;
  for (const auto &[number, why] : planning.result.unpredicted)
    llvm::errs() << (best.empty() ? "error: " : "warning: ") << plan.plans[size_t(number)]
                 << " cannot be compiled: " << why << "\n";
  if (best.empty())
    return plan.plans.empty() ? sayNothingFits(planning) : Exit::usage;
  const size_t most = plan.plans.empty() ? size_t(plan.best) : best.size();
  auto listed = int64_t(std::min(best.size(), most));
  for (int64_t number : plan.why)
    if (number > listed)
      throw Failure(Exit::usage, concat("--why ", number, ": only ", listed, " plans are listed"));
  if (plan.take > listed)
    throw Failure(Exit::usage,
                  concat("--choose ", plan.take, ": only ", listed, " plans are listed"));
  ordered_json facts = describe(planning, plan.plans, listed);
  if (!plan.output.empty()) {
    const Planned &taken = best[size_t(plan.take - 1)];
    if (!runsStages(target) && taken.strategy.stages() > 1)
      throw Failure(Exit::usage,
                    concat("-o ", plan.output, ": plan ", plan.take, ", ", textOf(taken),
                           ", has pipeline stages, which cannot be compiled for ", target,
                           " yet: remove pp from --mesh or --axes, or --choose a plan "
                           "without stages"));
    if (!facts["plans"][size_t(plan.take - 1)]["fits"])
      llvm::errs() << "warning: " << plan.output << ": the plan does not fit on " << cluster.name
                   << "; --choose N writes another one\n";
    writeFile(plan.output,
              planner::planFileText(
                  fileOf(planning, taken),
                  {concat("weir plan, for ", facts["devices"].get<std::string>(), " (",
                          cluster.name, ")"),
                   concat("a step: ", secondsText(taken.prediction.seconds),
                          "; a device: ", bytesText(taken.prediction.memory.device()))}));
  }
  if (plan.why.size() == 2) {
    printDifference(facts, plan.why[0], plan.why[1], std::cout);
    return Exit::ok;
  }
  facts["leaves_stages_out"] = leavesStagesOut && plan.plans.empty();
  printFacts(facts, plan.json, printPlans);
  return Exit::ok;
}

bool isChosenMesh(const std::string &mesh) { return mesh == "auto" || mesh.starts_with("auto:"); }

namespace {

/// So many cores as one device: what each computes is cut over them, and is waited for.
planner::Device ofCores(planner::Device device, int64_t cores) {
  double times = double(cores) * std::pow(machines::leftOfDoubledCores, std::log2(double(cores)));
  device.memory *= cores;
  device.bandwidth *= times;
  device.elementwise *= times;
  device.attention *= times;
  device.convolution *= times;
  device.watts *= double(cores);
  for (planner::RateOf *rates : {&device.peak, &device.products.rate})
    for (auto &[name, rate] : *rates)
      rate *= times;
  return device;
}

planner::LinkLevel levelOf(const char *name, const Link &link, bool overlaps) {
  return {.name = name,
          .bandwidth = link.bytesPerSecond,
          .latency = link.latency,
          .overlaps = overlaps};
}

/// What is here, as far as it is known: cores that share their memory, or GPUs of one node.
Cluster clusterHere(const CompileOptions &options, int64_t count) {
  if (!options.cluster.empty())
    return planner::readCluster(options.cluster);
  if (options.target->starts_with("cpu")) {
    Cluster cluster =
        planner::clusterOf("cpu", count, levelOf("memory", machines::betweenCores, false));
    cluster.groups.front().device.target = *options.target;
    return cluster;
  }
  std::string known = *options.target == "cuda:sm_80"   ? "a100-80"
                      : *options.target == "cuda:sm_90" ? "h100"
                                                        : "";
  if (known.empty())
    throw Failure(Exit::usage, "--mesh auto for --target " + *options.target +
                                   ": describe the GPUs in a file, and give --cluster FILE.toml");
  return planner::clusterOf(known, count, levelOf("NVLink", machines::betweenGpus, true));
}

/// What is chosen with the mesh, and was given beside it.
void requireUndecided(const CompileOptions &options) {
  const std::string asked = "--mesh " + options.chosenMesh;
  if (std::string given = decidedBeside(options); !given.empty())
    throw Failure(Exit::usage, concat(asked, " also chooses ", given,
                                      ": remove the option, or use weir plan with it"));
  if (*options.strategy.deterministic)
    throw Failure(Exit::usage, asked + " is not supported with --deterministic yet: give a mesh");
  if (options.memoryIsHere)
    throw Failure(Exit::usage,
                  "--memory here is this machine's memory, but --memory is per rank of " + asked +
                      ": give the size for one rank");
}

/// N of "auto:N"; 0 where it does not say.
int64_t countOf(const std::string &mesh) {
  llvm::StringRef text = mesh;
  if (!text.consume_front("auto:"))
    return 0;
  int64_t count = 0;
  if (text.getAsInteger(10, count) || count < 1 || count > 4096)
    throw Failure(Exit::usage, "--mesh " + mesh + ": expected a number of devices from 1 to 4096");
  return count;
}

/// The fastest of the ways that cores of this machine may be divided among ranks: those that no
/// rank is for compute for the others.
std::optional<Planned> bestOnCores(Planning &planning, const CompileOptions &options,
                                   int64_t cores) {
  std::optional<Planned> best;
  for (int64_t ranks = 1; ranks <= cores; ++ranks) {
    if (cores % ranks != 0)
      continue;
    Cluster cluster = clusterHere(options, ranks);
    planner::Device &device = cluster.groups.front().device;
    device = ofCores(device, cores / ranks);
    planning.threads = cores / ranks;
    device.memory = options.strategy.memory.value_or(device.memory);
    planning.search(cluster, allowedBy({.lowered = 12, .allDevices = true}));
    for (const Planned &one : planning.result.best)
      if (!best || one.prediction.seconds < best->prediction.seconds)
        best = one;
  }
  return best;
}

} // namespace

Exit chooseMesh(CompileOptions &options) {
  if (options.chosenMesh.empty())
    return Exit::ok;
  requireUndecided(options);
  FatalErrors ends;
  const bool describes = !options.cluster.empty();
  const std::string asked = options.chosenMesh;
  int64_t count = countOf(asked);
  if (describes && count)
    throw Failure(Exit::usage, "--mesh " + asked + " conflicts with --cluster " + options.cluster +
                                   ", which already gives the number of devices: give --mesh auto");
  const bool onCores = options.target->starts_with("cpu") && !describes;
  if (!onCores && !describes && count == 0)
    throw Failure(Exit::usage, "--mesh auto for --target " + *options.target +
                                   ": give the number of GPUs, as in --mesh auto:8, or describe "
                                   "them with --cluster FILE.toml");
  if (onCores && count == 0)
    count = std::max<int64_t>(1, options.threads ? options.threads : cpu::availableCores());
  Planning planning(options);
  if (Exit exit = planning.elaborateModel(true); exit != Exit::ok)
    return exit;
  Cluster cluster = clusterHere(options, count);
  std::optional<Planned> best;
  if (onCores) {
    best = bestOnCores(planning, options, count);
    planning.cluster = &cluster;
  } else {
    if (options.strategy.memory)
      for (planner::DeviceGroup &group : cluster.groups)
        group.device.memory = *options.strategy.memory;
    const std::string &target = cluster.deviceOf(0).target;
    if (*options.target != "cpu" && *options.target != target)
      throw Failure(Exit::usage, "--target " + *options.target + ", but the devices of " +
                                     options.cluster + " are " + target);
    PlanModelOptions chosen{.lowered = 12};
    if (!runsStages(target))
      chosen.axes = axesWithoutStages();
    planning.search(cluster, allowedBy(chosen));
    options.target = target;
    if (!planning.result.best.empty())
      best = planning.result.best.front();
  }
  if (!best)
    return sayNothingFits(planning);
  strategy::copyGiven(options.strategy, strategy::planOf(best->strategy));
  options.chosenMesh.clear();
  options.choseMesh = true;
  llvm::errs() << "note: --mesh " << asked << " is " << textOf(*best) << ": an estimated "
               << secondsText(best->prediction.seconds) << " per step and "
               << bytesText(best->prediction.memory.device()) << " per device\n";
  return Exit::ok;
}

} // namespace weir
