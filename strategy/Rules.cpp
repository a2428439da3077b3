//===- Rules.cpp - Constraints between the fields of a strategy ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "strategy/Rules.h"
#include "runtime/base/RankPlacement.h"
#include "runtime/base/Stages.h"
#include "runtime/base/Text.h"
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
                    " ranks, and a run chooses its mesh by the number of ranks: "
                    "leave one out");
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
             : "--link describes the interconnect of a --mesh, and there is none";
}

std::string ratesHaveAxes(const Strategy &strategy, const Context &context) {
  if (!strategy.rates)
    return "";
  if (!strategy.hasMesh())
    return "--rates are of the ranks of a --mesh, and there is none";
  for (const auto &[axis, links] : strategy.rates->axes)
    if (!anyHas(strategy, context, axis))
      return concat("--rates: there is no ", axis, " in --mesh ", strategy.mesh.text(), ": leave ",
                    axis, " out, or name an axis of the mesh");
  return "";
}

/// A mesh that was chosen may be one device.
std::string overlapHasMesh(const Strategy &strategy, const Context &context) {
  return strategy.hasMesh() || *strategy.overlap || context.choseMesh
             ? ""
             : "--no-overlap is of what the ranks of a --mesh exchange, and there is none";
}

std::string scheduleHasStages(const Strategy &strategy, const Context &context) {
  for (const Mesh &mesh : allMeshes(strategy, context))
    if (stagesOf(mesh) > 1)
      return "";
  return strategy.schedule.isGiven()
             ? "--schedule is of the stages of a pipeline: give a --mesh pp=N"
             : "";
}

/// What pipelines do not go with yet.
std::string stagesGoWith(const Strategy &strategy, const Context &context) {
  const char *other = !context.isCpu()                ? "--target cuda"
                      : strategy.offload->activations ? "--offload activations"
                                                      : nullptr;
  return other && strategy.stages() > 1
             ? concat(other, " does not go with --mesh pp=", strategy.stages(),
                      " yet: leave one of the two out")
             : "";
}

std::string deterministicOnCpus(const Strategy &strategy, const Context &context) {
  return context.isCpu() || !*strategy.deterministic
             ? ""
             : "--deterministic gives each device several ranks, and a GPU is one rank yet, which "
               "this is for (" +
                   context.target + "): give a --target of CPUs, or leave it out";
}

std::string deterministicMesh(const Strategy &strategy, const Context &context) {
  if (!*strategy.deterministic)
    return "";
  const Mesh &mesh = strategy.mesh;
  const Strategy carriedOut = strategy.carriedOut(context.target);
  const std::string parts = carriedOut.mesh.text();
  if (std::string wrong = carriedOut.mesh.wrong(); !wrong.empty())
    return "--deterministic cuts a step as " + parts + " does, whatever dp and tp: " + wrong;
  for (const Mesh::Axis &axis : mesh.axes)
    if (axis.hasShares())
      return concat("--deterministic cuts a step into equal parts, and --mesh ", mesh.text(),
                    " has ", axis.name, "=", axis.ranks(), ": expected ", axis.name, "=",
                    axis.size);
  for (const Mesh::Axis &axis : mesh.axes)
    if ((axis.name == expertAxis || axis.name == contextAxis) && axis.size > deterministicRanks)
      return concat("--deterministic adds up what ", deterministicRanks,
                    " ranks of an axis have in one order, and --mesh ", mesh.text(), " has ",
                    axis.name, "=", axis.size, ": expected ", deterministicRanks, " at most");
  if (std::string wrong = wrongHosts(carriedOut.hosts, carriedOut.mesh); !wrong.empty())
    return "--deterministic cuts a step as " + parts +
           " does, and each device of --mesh has as many of the parts: " + wrong +
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
  return fits ? concat(fits, " does not go with --deterministic: memory is known of one part of a "
                             "step, and a device has several; leave one of the two out")
              : "";
}

std::string deterministicChoosesSequenceParallel(const Strategy &strategy, const Context &) {
  return *strategy.deterministic && strategy.sequenceParallel.isGiven()
             ? "--sequence-parallel does not go with --deterministic, which computes as one mesh "
               "does: leave one of the two out"
             : "";
}

std::string memoryOfOneRank(const Strategy &strategy, const Context &context) {
  return context.memoryIsHere && strategy.hasMesh()
             ? "--memory here is for all ranks of --mesh " + strategy.mesh.text() +
                   " together, and each gets a size of its own: give one"
             : "";
}

std::string contextParallelHasAxis(const Strategy &strategy, const Context &context) {
  return strategy.contextParallel && !anyHas(strategy, context, contextAxis)
             ? "--context-parallel says what attention does over an axis cp, and there is none: "
               "expected --mesh cp=N"
             : "";
}

/// `deterministic` computes as tp=8 does, whatever the mesh.
std::string tpReduceTypeHasAxis(const Strategy &strategy, const Context &context) {
  return isLow(*strategy.tpReduceType) && !*strategy.deterministic && !context.choseMesh &&
                 !anyHas(strategy, context, tensorAxis)
             ? "--tp-reduce-dtype is of the partial sums of tensor-parallel ranks, and there is no "
               "axis tp: expected --mesh tp=N or --deterministic"
             : "";
}

std::string reduceTypesAreOfPrecision(const Strategy &strategy, const Context &) {
  const Element stored = rowOf(*strategy.precision).stored;
  for (auto [option, type] : {std::pair("--grad-reduce-dtype", *strategy.gradReduceType),
                              std::pair("--tp-reduce-dtype", *strategy.tpReduceType)})
    if (isLow(type) && type != stored)
      return concat(option, " ", nameOf(type), " does not go with --precision ",
                    nameOf(*strategy.precision), ": expected f32",
                    isLow(stored) ? concat(" or ", nameOf(stored)) : "",
                    isLow(stored) ? "" : ", or a --precision of bf16, f16 or f8");
  return "";
}

std::string sequenceParallelHasAxis(const Strategy &strategy, const Context &context) {
  return strategy.sequenceParallel.isGiven() && !anyHas(strategy, context, tensorAxis)
             ? "--sequence-parallel is of what stands between the matrices that tp cuts, and there "
               "is none: expected --mesh tp=N"
             : "";
}

std::string zeroHasAxis(const Strategy &strategy, const Context &context) {
  return *strategy.zero && !std::ranges::any_of(allMeshes(strategy, context), hasBatch)
             ? "--zero needs a --mesh dp=N (or ep, cp) over whose ranks it is cut"
             : "";
}

std::string automaticHasBudget(const Strategy &strategy, const Context &context) {
  if (strategy.memory)
    return "";
  if (context.choosesMicrobatches)
    return "--microbatches auto needs a --memory to fit into";
  if (context.choosesOffload)
    return "--offload auto needs a --memory to fit into";
  return strategy.offload->activations ? "--offload activations needs a --memory to fit into: what "
                                         "there is room for is kept"
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
