//===- Lower.cpp - Lowers a strategy to a plan ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Lower.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/requests/Recompute.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/memory/Reserve.h"
#include "planner/Prices.h"
#include "support/mesh/Stages.h"

using namespace mlir;

namespace weir::planner {

static RankMemory memoryOf(ModuleOp plan, const Target &target, int64_t threads) {
  RankMemory memory;
  auto sizeOf = [&](StringRef name) {
    auto bytes = plan->getAttrOfType<IntegerAttr>(name);
    return bytes ? bytes.getInt() : 0;
  };
  for (auto variable : plan.getOps<plan::VariableOp>()) {
    int64_t bytes = int64_t(llvm::alignTo(storageBytes(variable.getType()), plan::alignment));
    if (variable.getHost())
      continue;
    switch (variable.getRole()) {
    case Role::parameter:
      memory.parameters += bytes;
      break;
    case Role::optimizer:
      memory.optimizer += bytes;
      break;
    default:
      memory.state += bytes;
      break;
    }
  }
  int64_t arena = sizeOf(plan::arenaAttrName), persistent = sizeOf(plan::persistentAttrName);
  memory.scratch = arena - persistent;
  memory.state += persistent - memory.parameters - memory.optimizer - memory.state;
  memory.reserve = reserveOf(target, threads, plan).bytes();
  memory.host = sizeOf(plan::hostAttrName);
  return memory;
}

namespace {

using planned::TimedAction;
using RankActions = std::vector<std::vector<TimedAction>>;

/// The other ranks of a stage along dp, if their shares of rows are unequal; `first` is its first.
std::vector<int64_t> otherSharesOf(const Mesh &mesh, int64_t first) {
  int axis = mesh.find(dataAxis);
  if (axis < 0 || !mesh.axes[size_t(axis)].hasShares())
    return {};
  std::vector<int64_t> others = mesh.along(first, unsigned(axis));
  llvm::erase(others, first);
  return others;
}

double recomputingIn(const std::vector<TimedAction> &actions) {
  return planned::sumOf(actions, [](const TimedAction &action) { return action.again; });
}

/// Simulates the ranks, and fills in the times of `prediction`. Returns false if they deadlock.
bool follow(const RankActions &ranks, Prediction &prediction) {
  std::optional<double> all = planned::secondsOf(ranks);
  if (!all)
    return false;
  RankActions alone;
  double computing = 0, recomputing = 0, communicating = 0;
  for (const std::vector<TimedAction> &rank : ranks) {
    alone.push_back(planned::withoutCollectives(rank));
    computing += planned::secondsOf(alone.back());
    recomputing += recomputingIn(rank);
    communicating += planned::sumOf(rank, [](const TimedAction &action) {
      return action.kind == TimedAction::Kind::collective || action.kind == TimedAction::Kind::send;
    });
  }
  double count = double(ranks.size()), unlinked = *planned::secondsOf(alone);
  prediction.seconds = *all;
  prediction.computing = computing / count;
  prediction.recomputing = recomputing / count;
  prediction.communicating = communicating / count;
  prediction.bubble = unlinked - prediction.computing;
  prediction.exposed = *all - unlinked;
  return true;
}

} // namespace

/// Keeps the first error.
static auto listenFor(std::string &why) {
  return [&why](Diagnostic &diagnostic) {
    if (why.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      why = diagnostic.str();
    return success();
  };
}

bool Lowering::takesMesh(const Mesh &mesh, std::string &why) {
  PipelineOptions changed = options;
  changed.strategy.mesh = mesh;
  ScopedDiagnosticHandler handler(model.getContext(), listenFor(why));
  OwningOpRef<ModuleOp> module(model.clone());
  return succeeded(runPassGroups(*module, changed, "layouts"));
}

std::optional<Lowering::Plans> Lowering::plansOf(const Strategy &strategy, bool firstAlone,
                                                 int64_t sampled, std::string &why) {
  PipelineOptions changed = options;
  changed.strategy = strategy;
  ScopedDiagnosticHandler handler(model.getContext(), listenFor(why));
  OwningOpRef<ModuleOp> module(model.clone());
  if (!markRecomputed(*module, strategy.recompute, why))
    return std::nullopt;
  Plans plans{{}, {{0}, {0}}, strategy.mesh, strategy.threads};
  if (!strategy.hasMesh()) {
    if (failed(runPassGroups(*module, changed, "plan")))
      return std::nullopt;
    plans.modules.push_back(std::move(module));
    return plans;
  }
  if (failed(runPassGroups(*module, changed, "layouts")))
    return std::nullopt;
  if (sampled > 0)
    module->walk([&](MicrobatchesOp loop) {
      int64_t count = std::min(sampled, int64_t(loop.getCount()));
      loop->setAttr(sampledAttrName, OpBuilder(loop).getI64IntegerAttr(count));
    });
  plans.programs = rankPrograms(*module, plans.mesh);
  std::vector<int64_t> &ranks = plans.programs.firstRank;
  if (firstAlone)
    ranks.resize(1);
  auto made = planRanks(*module, ranks, changed);
  if (failed(made))
    return std::nullopt;
  plans.modules = std::move(*made);
  return plans;
}

static plan::EntryOp stepOf(ModuleOp plan) {
  for (auto entry : plan.getOps<plan::EntryOp>())
    if (entry.getSymName() == "step")
      return entry;
  return nullptr;
}

void Prediction::sumUpMemory(const Cluster &cluster) {
  memory = held.front().memory;
  fits = true;
  for (const Held &one : held) {
    if (one.memory.device() > memory.device())
      memory = one.memory;
    fits &= one.memory.device() <= cluster.groups[one.group].device.memory;
  }
}

std::optional<Prediction> Lowering::predict(const Strategy &strategy, std::string &why,
                                            int64_t sampled) {
  std::optional<Plans> plans = plansOf(strategy, false, sampled, why);
  if (!plans)
    return std::nullopt;
  Prediction prediction;
  prediction.isLowered = true;
  const std::vector<uint32_t> &programOf = plans->programs.programOf;
  for (auto [i, plan] : llvm::enumerate(plans->modules)) {
    const RankMemory memory = memoryOf(*plan, *options.target, plans->threads);
    size_t begin = 0;
    for (auto [number, group] : llvm::enumerate(cluster.groups)) {
      auto ranks = llvm::ArrayRef(programOf).drop_front(std::min(programOf.size(), begin));
      if (llvm::is_contained(ranks.take_front(size_t(group.count)), uint32_t(i)))
        prediction.held.push_back({number, memory});
      begin += size_t(group.count);
    }
  }
  prediction.sumUpMemory(cluster);
  auto actionsOf = [&](int64_t rank) {
    ClusterPrices prices(cluster, plans->mesh, rank, nameOf(*strategy.precision),
                         *strategy.overlap);
    plan::EntryOp step = stepOf(*plans->modules[programOf[size_t(rank)]]);
    return Timing(prices).timed(step.getBody().front());
  };
  RankActions ranks;
  for (int64_t first : firstRanksOf(plans->mesh)) {
    std::vector<TimedAction> slowest = actionsOf(first);
    double most = planned::secondsOf(planned::withoutCollectives(slowest));
    for (int64_t rank : otherSharesOf(plans->mesh, first)) {
      std::vector<TimedAction> actions = actionsOf(rank);
      double seconds = planned::secondsOf(planned::withoutCollectives(actions));
      if (seconds > most) {
        most = seconds;
        slowest = std::move(actions);
      }
    }
    ranks.push_back(std::move(slowest));
  }
  if (!follow(ranks, prediction)) {
    why = "its pipeline stages deadlock";
    return std::nullopt;
  }
  return prediction;
}

std::optional<Lowering::Parts> Lowering::parts(const Strategy &strategy, std::string &why) {
  std::optional<Plans> plans = plansOf(strategy, true, 0, why);
  if (!plans)
    return std::nullopt;
  ClusterPrices prices(cluster, plans->mesh, 0, nameOf(*strategy.precision), *strategy.overlap);
  std::vector<TimedAction> actions =
      Timing(prices).timed(stepOf(*plans->modules.front()).getBody().front());
  Parts parts{.memory = memoryOf(*plans->modules.front(), *options.target, plans->threads)};
  double all = planned::secondsOf(actions);
  auto loop = llvm::find_if(
      actions, [](const TimedAction &action) { return action.kind == TimedAction::Kind::loop; });
  double rounds = loop == actions.end() ? 1 : double(loop->count);
  const std::vector<TimedAction> &body = loop == actions.end() ? actions : loop->body;
  parts.body = planned::secondsOf(body);
  parts.bodyComputing = planned::secondsOf(planned::withoutCollectives(body));
  parts.bodyRecomputing = recomputingIn(body);
  parts.bodyCommunicating = planned::sumOf(
      body, [](const TimedAction &action) { return action.kind == TimedAction::Kind::collective; });
  parts.outside = std::max(0.0, all - rounds * parts.body);
  return parts;
}

} // namespace weir::planner
