//===- MeshOptions.cpp - Several devices on the command line ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/MeshOptions.h"
#include "passes/pipeline/Schedules.h"
#include "runtime/base/Error.h"
#include "runtime/base/Hosts.h"
#include "runtime/base/Link.h"
#include "runtime/base/MeshRates.h"
#include "runtime/base/Stages.h"
#include "runtime/base/Text.h"
#include "runtime/run/Within.h"
#include "tools/weir/PlanFileOptions.h"
#include "tools/weir/PlanModel.h"
#include <algorithm>
#include <functional>
#include <map>

namespace weir {

std::string isLink(const std::string &text) {
  return Link::parse(text) ? ""
                           : text + " is no link: expected bytes per second, and the time that an "
                                    "exchange takes besides, such as 50GB/s or 50GB/s,5us";
}

void addLayoutOptions(CLI::App &app, CompileOptions &options) {
  app.add_option_function<std::vector<std::string>>(
         "--mesh",
         [&options](const std::vector<std::string> &meshes) {
           options.mesh = meshes.front();
           options.otherMeshes.assign(meshes.begin() + 1, meshes.end());
         },
         "Device mesh, such as dp=2,tp=2 (axes: dp, tp, pp, ep, cp), or auto")
      ->group("Parallelism")
      ->type_name("AXIS=N,...|auto[:N]")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check([](const std::string &text) {
        if (isChosenMesh(text))
          return std::string();
        auto parsed = Mesh::parse(text);
        if (auto *wrong = std::get_if<std::string>(&parsed))
          return *wrong;
        for (const Mesh::Axis &axis : std::get<Mesh>(parsed).axes)
          if (!isOfBatch(axis.name) && axis.name != tensorAxis && axis.name != stageAxis)
            return axis.name + " is no axis that anything is cut over: expected dp, for rows of "
                               "batches, tp, for matrices, ep, for experts, cp, for positions "
                               "of sequences, or pp, for stages";
        return std::string();
      });
  app.add_option_function<int64_t>(
         "--zero",
         [&options](int64_t zero) {
           options.zero = zero;
           options.saysZero = true;
         },
         "ZeRO: shard optimizer state (1), gradients (2), parameters (3)")
      ->group("Parallelism")
      ->type_name("0..3")
      ->transform(integerWithin(0, 3));
  app.add_option("--schedule", options.schedule,
                 "Pipeline schedule: gpipe, 1f1b, interleaved[:N] or zero-bubble")
      ->group("Parallelism (more)")
      ->type_name("NAME")
      ->check([](const std::string &name) {
        return pipeline::findSchedule(name)
                   ? std::string()
                   : "there is no schedule " + name + ": expected " + pipeline::scheduleNames();
      });
  app.add_option_function<std::string>(
         "--sequence-parallel",
         [&options](const std::string &word) {
           options.sequenceParallel = word == "on";
           options.saysSequenceParallel = true;
         },
         "Shard activations between tensor-parallel layers (default: on)")
      ->group("Parallelism (more)")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}));
}

void addExchangeOptions(CLI::App &app, CompileOptions &options) {
  app.add_flag_callback(
         "--no-overlap", [&options] { options.overlap = false; },
         "Do not overlap communication with computation")
      ->group("Communication (more)");
  app.add_flag("--low-sums", options.lowSums,
               "Reduce tensor-parallel partial sums in the type of --precision")
      ->group("Communication (more)");
  app.add_flag("--low-gradients", options.lowGradients,
               "Reduce gradients over ranks in the type of --precision")
      ->group("Communication (more)");
}

void addMeshOptions(CLI::App &app, CompileOptions &options) {
  addLayoutOptions(app, options);
  app.add_option("--context-parallel", options.contextParallel,
                 "Attention over cp: all-to-all, gather or ring")
      ->group("Parallelism (more)")
      ->type_name("WAY")
      ->check(CLI::IsMember({"all-to-all", "gather", "ring"}));
  addExchangeOptions(app, options);
  app.add_option("--link", options.link, "Assumed interconnect (default: 10GB/s,20us)")
      ->group("Communication (more)")
      ->type_name("BYTES/s[,TIME]")
      ->check(isLink);
  app.add_option("--rates", options.rates,
                 "Assumed rates of compute, memory and links, which choose shardings")
      ->group("Communication (more)")
      ->type_name("RATES")
      ->check(&MeshRates::wrong);
  app.add_flag("--deterministic", options.deterministic,
               "Same bits on every mesh whose dp and tp divide 8; slower")
      ->group("Parallelism (more)")
      ->excludes(app.get_option("--sequence-parallel"));
}

static void checkDeterministic(const CompileOptions &options) {
  const Mesh mesh = std::get<Mesh>(Mesh::parse(options.mesh));
  const RankOptions ranks = ranksOf(options);
  const std::string &parts = ranks.mesh;
  if (auto wrong = Mesh::parse(parts); std::holds_alternative<std::string>(wrong))
    throw Failure(Exit::usage, "--deterministic cuts a step as " + parts +
                                   " does, whatever dp and tp: " + std::get<std::string>(wrong));
  for (const Mesh::Axis &axis : mesh.axes)
    if (axis.hasShares())
      throw Failure(Exit::usage, concat("--deterministic cuts a step into equal parts, and --mesh ",
                                        options.mesh, " has ", axis.name, "=", axis.ranks(),
                                        ": expected ", axis.name, "=", axis.size));
  for (const Mesh::Axis &axis : mesh.axes)
    if ((axis.name == expertAxis || axis.name == contextAxis) && axis.size > deterministicRanks)
      throw Failure(Exit::usage, concat("--deterministic adds up what ", deterministicRanks,
                                        " ranks of an axis have in one order, and --mesh ",
                                        options.mesh, " has ", axis.name, "=", axis.size,
                                        ": expected ", deterministicRanks, " at most"));
  const Mesh hosts = std::get<Mesh>(Mesh::parse(ranks.hosts));
  if (std::string wrong = wrongHosts(hosts, std::get<Mesh>(Mesh::parse(parts))); !wrong.empty())
    throw Failure(Exit::usage, "--deterministic cuts a step as " + parts +
                                   " does, and each device of --mesh has as many of the parts: " +
                                   wrong + "; expected 1, 2, 4 or 8");
  const char *fits = options.memory                ? "--memory"
                     : options.choosesOffload      ? "--offload auto"
                     : options.offloadsActivations ? "--offload activations"
                     : options.choosesMicrobatches ? "--microbatches auto"
                                                   : nullptr;
  if (fits)
    throw Failure(Exit::usage,
                  concat(fits,
                         " does not go with --deterministic: memory is known of one part of a "
                         "step, and a device has several; leave one of the two out"));
}

void requireOneMesh(const CompileOptions &options, const std::string &what) {
  if (!options.otherMeshes.empty())
    throw Failure(Exit::usage, concat(what, " looks at one mesh, and --mesh is there ",
                                      1 + options.otherMeshes.size(), " times: give one"));
}

static bool hasBatch(const Mesh &mesh) {
  return std::ranges::any_of(mesh.axes,
                             [](const Mesh::Axis &axis) { return isOfBatch(axis.name); });
}

/// Whether one of the meshes does.
static bool any(const CompileOptions &options, const std::function<bool(const Mesh &)> &does) {
  return std::ranges::any_of(allMeshes(options), [&](const std::string &mesh) {
    return does(std::get<Mesh>(Mesh::parse(mesh)));
  });
}

/// A run is of one of them by the number of its processes.
static void checkOtherMeshes(const CompileOptions &options) {
  std::map<int64_t, std::string> ofRanks;
  for (const std::string &mesh : allMeshes(options)) {
    int64_t ranks = std::get<Mesh>(Mesh::parse(mesh)).ranks();
    if (auto [other, isNew] = ofRanks.emplace(ranks, mesh); !isNew)
      throw Failure(Exit::usage, concat("--mesh ", other->second, " and --mesh ", mesh,
                                        " are of as many ranks, ", ranks,
                                        ", by which a run chooses among them: leave one out"));
  }
  if (!options.stopAfter.empty())
    requireOneMesh(options, "--stop-after");
  if (!options.dumpIr.empty())
    requireOneMesh(options, "--dump-ir");
  for (const std::string &mesh : options.otherMeshes) {
    CompileOptions one = options;
    one.mesh = mesh;
    one.otherMeshes.clear();
    // What is said of an axis is for the meshes that have it.
    const Mesh of = std::get<Mesh>(Mesh::parse(mesh));
    if (stagesOf(of) == 1)
      one.schedule.clear();
    if (of.find(contextAxis) < 0)
      one.contextParallel.clear();
    if (!hasBatch(of))
      one.zero = 0;
    if (of.find(tensorAxis) < 0) {
      one.saysSequenceParallel = false;
      one.lowSums = one.lowSums && one.deterministic;
    }
    one.rates.clear();
    checkMeshOptions(one);
  }
}

static void checkRates(const CompileOptions &options) {
  if (options.rates.empty())
    return;
  if (options.mesh.empty())
    throw Failure(Exit::usage, "--rates are of the ranks of a --mesh, and there is none");
  const MeshRates rates = *MeshRates::parse(options.rates);
  for (const auto &[axis, links] : rates.axes)
    if (!any(options, [&](const Mesh &mesh) { return mesh.find(axis) >= 0; }))
      throw Failure(Exit::usage, concat("--rates: there is no ", axis, " in --mesh ", options.mesh,
                                        ": leave ", axis, " out, or name an axis of the mesh"));
}

static void checkLow(const CompileOptions &options) {
  if (options.precision != "f32" && options.precision != "tf32")
    return;
  for (auto [flag, given] : {std::pair("--low-sums", options.lowSums),
                             std::pair("--low-gradients", options.lowGradients)})
    if (given)
      throw Failure(Exit::usage,
                    concat(flag, " is of products in low precision, and --precision is ",
                           options.precision, ": expected bf16, f16 or f8"));
}

/// What pipelines do not go with yet.
static void checkStages(const CompileOptions &options) {
  const Mesh mesh = std::get<Mesh>(Mesh::parse(options.mesh));
  if (stagesOf(mesh) == 1) {
    if (!options.schedule.empty() &&
        !any(options, [](const Mesh &some) { return stagesOf(some) > 1; }))
      throw Failure(Exit::usage, "--schedule is of the stages of a pipeline: give a --mesh pp=N");
    return;
  }
  const char *other = !options.target.starts_with("cpu") ? "--target cuda"
                      : options.offloadsActivations      ? "--offload activations"
                                                         : nullptr;
  if (other)
    throw Failure(Exit::usage, concat(other, " does not go with --mesh pp=", stagesOf(mesh),
                                      " yet: leave one of the two out"));
}

void checkMeshOptions(const CompileOptions &options) {
  checkOtherMeshes(options);
  if (options.mesh.empty() && !options.link.empty())
    throw Failure(Exit::usage, "--link joins the ranks of a --mesh, and there is none");
  checkRates(options);
  // A mesh that was chosen may be one device, or without tp.
  if (options.mesh.empty() && !options.overlap && !options.choseMesh)
    throw Failure(Exit::usage, "--no-overlap is of what the ranks of a --mesh exchange, and there "
                               "is none");
  checkStages(options);
  if (options.deterministic && !options.target.starts_with("cpu"))
    throw Failure(Exit::usage,
                  "--deterministic gives each device several ranks, and a GPU is one rank yet, "
                  "which this is for (" +
                      options.target + "): give a --target of CPUs, or leave it out");
  if (options.deterministic)
    checkDeterministic(options);
  if (options.memoryIsHere && !options.mesh.empty())
    throw Failure(Exit::usage, "--memory here is for all ranks of --mesh " + options.mesh +
                                   " together, and each gets a size of its own: give one");
  if (!options.contextParallel.empty() &&
      !any(options, [](const Mesh &some) { return some.find(contextAxis) >= 0; }))
    throw Failure(Exit::usage,
                  "--context-parallel says what attention does over an axis cp, and there is none: "
                  "expected --mesh cp=N");
  auto hasTensors = [](const Mesh &some) { return some.find(tensorAxis) >= 0; };
  // --deterministic computes as tp=8 does, whatever the mesh.
  if (options.lowSums && !options.deterministic && !options.choseMesh && !any(options, hasTensors))
    throw Failure(Exit::usage, "--low-sums rounds the partial sums of tensor-parallel ranks, and "
                               "there is no axis tp: expected --mesh tp=N or --deterministic");
  checkLow(options);
  if (options.saysSequenceParallel && !any(options, hasTensors))
    throw Failure(Exit::usage, "--sequence-parallel is of what stands between the matrices that "
                               "tp cuts, and there is none: expected --mesh tp=N");
  if (options.zero && !any(options, hasBatch))
    throw Failure(Exit::usage, "--zero needs a --mesh dp=N (or ep, cp) over whose ranks it is cut");
}

void checkPlan(const CompileOptions &options, const std::string &file) {
  try {
    checkMeshOptions(options);
  } catch (const Failure &failure) {
    throw Failure(failure.exit, concat("--plan ", file, ": ", failure.what()));
  }
}

void checkPlanned(const CompileOptions &options, const PlanModelOptions &plan) {
  auto hasAny = [&](std::initializer_list<std::string_view> axes) {
    return plan.axes.empty() || std::ranges::any_of(plan.axes, [&](const std::string &axis) {
             return std::ranges::find(axes, axis) != axes.end();
           });
  };
  checkLow(options);
  if (plan.json && plan.output == "-")
    throw Failure(Exit::usage, "--json and -o -: both are written to standard output; give -o a "
                               "file");
  if (!options.mesh.empty() && !plan.axes.empty())
    throw Failure(Exit::usage, "--mesh and --axes: a mesh says its axes already; leave one of the "
                               "two out");
  if (!options.schedule.empty() && !hasAny({stageAxis}))
    throw Failure(Exit::usage, "--schedule is of the stages of a pipeline: add pp to --axes");
  if (options.zero > 0 && !hasAny({dataAxis, expertAxis, contextAxis}))
    throw Failure(Exit::usage, concat("--zero ", options.zero,
                                      " cuts over dp, ep and cp: add one of them to --axes"));
  if (!options.mesh.empty() && !isChosenMesh(options.mesh))
    checkMeshOptions(options);
  for (const std::string &file : plan.plans) {
    CompileOptions one = options;
    setChoice(readPlan(file).choice, one);
    checkPlan(one, file);
  }
}

} // namespace weir
