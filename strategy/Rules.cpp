//===- Rules.cpp - Constraints between the fields of a strategy ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "strategy/Rules.h"
#include "support/Text.h"
#include "support/mesh/RankPlacement.h"
#include "support/mesh/Stages.h"
#include <algorithm>
#include <map>

namespace weir::strategy {
namespace {

std::vector<Mesh> allMeshes(const Strategy &strategy, const Context &context) {
  std::vector<Mesh> all = {strategy.mesh};
  all.insert(all.end(), context.others.begin(), context.others.end());
  return all;
}

bool hasBatch(const Mesh &mesh) {
  return std::ranges::any_of(mesh.axes,
                             [](const Mesh::Axis &axis) { return isOfBatch(axis.name); });
}

/// Whether one of the meshes has an axis of this name.
bool anyHas(const Strategy &strategy, const Context &context, std::string_view axis) {
  return std::ranges::any_of(allMeshes(strategy, context),
                             [&](const Mesh &mesh) { return mesh.find(axis) >= 0; });
}

/// A run takes one of them by the number of its processes.
std::string meshesDifferInSize(const Strategy &strategy, const Context &context) {
  std::map<int64_t, std::string> ofRanks;
  for (const Mesh &mesh : allMeshes(strategy, context))
    if (auto [other, isNew] = ofRanks.emplace(mesh.ranks(), mesh.text()); !isNew)
      return concat("--mesh ", other->second, " and --mesh ", mesh.text(), " both have ",
                    mesh.ranks(),
                    " ranks, but a run selects its mesh by the number of ranks: "
                    "expected meshes of different sizes; remove one of them");
  return "";
}

/// A field that only some meshes have a use for is for those that have one.
std::string otherMeshesKeepRules(const Strategy &strategy, const Context &context) {
  const Strategy standard;
  for (const Mesh &mesh : context.others) {
    Strategy one = strategy;
    one.mesh = mesh;
    if (stagesOf(mesh) == 1)
      one.schedule = standard.schedule;
    if (mesh.find(contextAxis) < 0)
      one.contextParallel.reset();
    if (!hasBatch(mesh))
      one.zero = standard.zero;
    if (mesh.find(tensorAxis) < 0) {
      one.sequenceParallel = standard.sequenceParallel;
      if (!*one.deterministic)
        one.tpReduceType = standard.tpReduceType;
    }
    one.rates.reset();
    Context alone = context;
    alone.others.clear();
    if (std::string wrong = brokenRule(one, alone); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string linkHasMesh(const Strategy &strategy, const Context &) {
  return strategy.hasMesh() || !strategy.link.isGiven()
             ? ""
             : "--link describes the interconnect of a --mesh, but no --mesh is given: add one, or "
               "remove --link";
}

std::string ratesHaveAxes(const Strategy &strategy, const Context &context) {
  if (!strategy.rates)
    return "";
  if (!strategy.hasMesh())
    return "--rates describes the ranks of a --mesh, but no --mesh is given: add one, or remove "
           "--rates";
  for (const auto &[axis, links] : strategy.rates->axes)
    if (!anyHas(strategy, context, axis))
      return concat("--rates: --mesh ", strategy.mesh.text(), " has no axis ", axis, ": remove ",
                    axis, ", or name an axis of the mesh");
  return "";
}

/// A mesh that was chosen may be one device.
std::string overlapHasMesh(const Strategy &strategy, const Context &context) {
  return strategy.hasMesh() || *strategy.overlap || context.choseMesh
             ? ""
             : "--no-overlap applies to communication between the ranks of a --mesh, but no --mesh "
               "is given: add one, or remove --no-overlap";
}

std::string scheduleHasStages(const Strategy &strategy, const Context &context) {
  for (const Mesh &mesh : allMeshes(strategy, context))
    if (stagesOf(mesh) > 1)
      return "";
  return strategy.schedule.isGiven() ? "--schedule applies to pipeline stages, but there is no "
                                       "mesh axis pp: add pp=N to --mesh, or remove --schedule"
                                     : "";
}

/// What pipelines do not go with yet.
std::string stagesGoWith(const Strategy &strategy, const Context &context) {
  const char *other = !context.isCpu()                ? "--target cuda"
                      : strategy.offload->activations ? "--offload activations"
                                                      : nullptr;
  return other && strategy.stages() > 1
             ? concat(other, " is not supported with --mesh pp=", strategy.stages(),
                      " yet: remove one of the two")
             : "";
}

std::string deterministicOnCpus(const Strategy &strategy, const Context &context) {
  return context.isCpu() || !*strategy.deterministic
             ? ""
             : "--deterministic runs several ranks on each device, but a GPU can run only one yet "
               "(--target " +
                   context.target + "): use a --target cpu, or remove --deterministic";
}

std::string deterministicMesh(const Strategy &strategy, const Context &context) {
  if (!*strategy.deterministic)
    return "";
  const Mesh &mesh = strategy.mesh;
  const Strategy carriedOut = strategy.carriedOut(context.target);
  const std::string parts = carriedOut.mesh.text();
  if (std::string wrong = carriedOut.mesh.wrong(); !wrong.empty())
    return "--deterministic shards every step as on " + parts +
           ", whatever dp and tp are: " + wrong;
  for (const Mesh::Axis &axis : mesh.axes)
    if (axis.hasShares())
      return concat("--deterministic shards a step into equal parts, but --mesh ", mesh.text(),
                    " has ", axis.name, "=", axis.ranks(), ": expected ", axis.name, "=",
                    axis.size);
  for (const Mesh::Axis &axis : mesh.axes)
    if ((axis.name == expertAxis || axis.name == contextAxis) && axis.size > deterministicRanks)
      return concat("--deterministic reduces over at most ", deterministicRanks,
                    " ranks of an axis in a fixed order, but --mesh ", mesh.text(), " has ",
                    axis.name, "=", axis.size, ": expected at most ", deterministicRanks);
  if (std::string wrong = wrongHosts(carriedOut.hosts, carriedOut.mesh); !wrong.empty())
    return "--deterministic shards every step as on " + parts +
           ", and each device of --mesh runs an equal number of the shards: " + wrong +
           "; expected 1, 2, 4 or 8";
  return "";
}

std::string deterministicMemory(const Strategy &strategy, const Context &context) {
  if (!*strategy.deterministic)
    return "";
  const char *fits = strategy.memory                 ? "--memory"
                     : context.choosesOffload        ? "--offload auto"
                     : strategy.offload->activations ? "--offload activations"
                     : context.choosesMicrobatches   ? "--microbatches auto"
                                                     : nullptr;
  return fits ? concat(fits,
                       " is not supported with --deterministic: memory is planned for one shard "
                       "of a step, but a device runs several; remove one of the two")
              : "";
}

std::string deterministicChoosesSequenceParallel(const Strategy &strategy, const Context &) {
  return *strategy.deterministic && strategy.sequenceParallel.isGiven()
             ? "--sequence-parallel is not supported with --deterministic, which computes as on "
               "one fixed mesh: remove one of the two"
             : "";
}

std::string memoryOfOneRank(const Strategy &strategy, const Context &context) {
  return context.memoryIsHere && strategy.hasMesh()
             ? "--memory here is this machine's memory, but --memory is per rank of --mesh " +
                   strategy.mesh.text() + ": give the size for one rank"
             : "";
}

std::string contextParallelHasAxis(const Strategy &strategy, const Context &context) {
  return strategy.contextParallel && !anyHas(strategy, context, contextAxis)
             ? "--context-parallel selects how attention is sharded over cp, but there is no mesh "
               "axis cp: add cp=N to --mesh, or remove --context-parallel"
             : "";
}

/// `deterministic` computes as tp=8 does, whatever the mesh.
std::string tpReduceTypeHasAxis(const Strategy &strategy, const Context &context) {
  return isLow(*strategy.tpReduceType) && !*strategy.deterministic && !context.choseMesh &&
                 !anyHas(strategy, context, tensorAxis)
             ? "--tp-reduce-dtype is the type of the all-reduce over tp, but there is no mesh axis "
               "tp: add tp=N to --mesh, add --deterministic, or remove --tp-reduce-dtype"
             : "";
}

std::string reduceTypesAreOfPrecision(const Strategy &strategy, const Context &) {
  const Element stored = rowOf(*strategy.precision).stored;
  for (auto [option, type] : {std::pair("--grad-reduce-dtype", *strategy.gradReduceType),
                              std::pair("--tp-reduce-dtype", *strategy.tpReduceType)})
    if (isLow(type) && type != stored)
      return concat(option, " ", nameOf(type), " is not supported with --precision ",
                    nameOf(*strategy.precision), ": expected f32",
                    isLow(stored) ? concat(" or ", nameOf(stored)) : "",
                    isLow(stored) ? "" : ", or a --precision of bf16, f16 or f8");
  return "";
}

std::string sequenceParallelHasAxis(const Strategy &strategy, const Context &context) {
  return strategy.sequenceParallel.isGiven() && !anyHas(strategy, context, tensorAxis)
             ? "--sequence-parallel shards activations between tensor-parallel layers, but there "
               "is no mesh axis tp: add tp=N to --mesh, or remove --sequence-parallel"
             : "";
}

std::string zeroHasAxis(const Strategy &strategy, const Context &context) {
  return *strategy.zero && !std::ranges::any_of(allMeshes(strategy, context), hasBatch)
             ? "--zero shards over data-parallel ranks, but there is no mesh axis dp, ep or cp: "
               "add dp=N to --mesh, or remove --zero"
             : "";
}

std::string automaticHasBudget(const Strategy &strategy, const Context &context) {
  if (strategy.memory)
    return "";
  if (context.choosesMicrobatches)
    return "--microbatches auto needs a memory budget: add --memory SIZE";
  if (context.choosesOffload)
    return "--offload auto needs a memory budget: add --memory SIZE";
  return strategy.offload->activations
             ? "--offload activations offloads only what exceeds a memory "
               "budget: add --memory SIZE"
             : "";
}

constexpr Rule all[] = {
    {"meshes-differ-in-size", meshesDifferInSize},
    {"other-meshes-keep-rules", otherMeshesKeepRules},
    {"link-has-mesh", linkHasMesh},
    {"rates-have-axes", ratesHaveAxes},
    {"overlap-has-mesh", overlapHasMesh},
    {"schedule-has-stages", scheduleHasStages},
    {"stages-go-with", stagesGoWith},
    {"deterministic-on-cpus", deterministicOnCpus},
    {"deterministic-mesh", deterministicMesh},
    {"deterministic-memory", deterministicMemory},
    {"deterministic-chooses-sequence-parallel", deterministicChoosesSequenceParallel},
    {"memory-of-one-rank", memoryOfOneRank},
    {"context-parallel-has-axis", contextParallelHasAxis},
    {"tp-reduce-dtype-has-axis", tpReduceTypeHasAxis},
    {"reduce-dtypes-are-of-precision", reduceTypesAreOfPrecision},
    {"sequence-parallel-has-axis", sequenceParallelHasAxis},
    {"zero-has-axis", zeroHasAxis},
    {"automatic-has-budget", automaticHasBudget},
};

} // namespace

std::span<const Rule> rules() { return all; }

std::string brokenRule(const Strategy &strategy, const Context &context) {
  for (const Rule &rule : all)
    if (std::string wrong = rule.broken(strategy, context); !wrong.empty())
      return wrong;
  return "";
}

std::string brokenRule(const Strategy &strategy, std::string_view name, const Context &context) {
  return std::ranges::find(all, name, &Rule::name)->broken(strategy, context);
}

} // namespace weir::strategy
