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
#include "runtime/run/Within.h"

namespace weir {

void addMeshOptions(CLI::App &app, CompileOptions &options) {
  app.add_option(
         "--mesh", options.mesh,
         "Run it on several devices together, here threads of this process: axes and their "
         "sizes, such as dp=2,tp=2. Over dp each batch's rows are cut, over tp the matrices "
         "of layers; pp are the stages of a pipeline")
      ->type_name("AXIS=N[,AXIS=N]")
      ->check([](const std::string &text) {
        auto parsed = Mesh::parse(text);
        if (auto *wrong = std::get_if<std::string>(&parsed))
          return *wrong;
        for (const Mesh::Axis &axis : std::get<Mesh>(parsed).axes)
          if (axis.name != dataAxis && axis.name != tensorAxis && axis.name != stageAxis)
            return axis.name + " is no axis that anything is cut over: expected dp, for rows of "
                               "batches, tp, for matrices, or pp, for stages";
        return std::string();
      });
  app.add_option(
         "--zero", options.zero,
         "What each of --mesh dp=N has a part of besides its rows: 1 or 2, what optimizers keep, "
         "and gradients; 3, parameters too")
      ->type_name("0..3")
      ->transform(integerWithin(0, 3));
  app.add_option(
         "--schedule", options.schedule,
         "In which order the stages of --mesh pp=N compute microbatches (--microbatches): " +
             pipeline::scheduleNames() + " (default: 1f1b)")
      ->type_name("NAME")
      ->check([](const std::string &name) {
        return pipeline::findSchedule(name)
                   ? std::string()
                   : "there is no schedule " + name + ": expected " + pipeline::scheduleNames();
      });
  CLI::Option *along =
      app.add_option_function<std::string>(
             "--sequence-parallel",
             [&options](const std::string &word) { options.sequenceParallel = word == "on"; },
             "Whether what stands between the matrices is cut over tp too, along the positions "
             "of a sequence (default: on)")
          ->type_name("on|off")
          ->check(CLI::IsMember({"on", "off"}));
  app.add_flag("--deterministic", options.deterministic,
               "Compute the same, bit for bit, on every mesh whose axes divide 8, and on one "
               "device: each computes its part of dp=8,tp=8, whatever the mesh. Slower, and other "
               "bits than without")
      ->excludes(along);
}

static void checkDeterministic(const CompileOptions &options) {
  const Mesh mesh = std::get<Mesh>(Mesh::parse(options.mesh));
  const std::string parts = ranksOf(options).mesh;
  if (std::string wrong = wrongHosts(mesh, std::get<Mesh>(Mesh::parse(parts))); !wrong.empty())
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

/// What pipelines do not go with yet.
static void checkStages(const CompileOptions &options) {
  const Mesh mesh = std::get<Mesh>(Mesh::parse(options.mesh));
  int axis = mesh.find(stageAxis);
  if (axis < 0 || mesh.axes[size_t(axis)].size == 1) {
    if (!options.schedule.empty())
      throw Failure(Exit::usage, "--schedule is of the stages of a pipeline: give a --mesh pp=N");
    return;
  }
  const char *other =
      options.deterministic         ? "--deterministic"
      : options.memory              ? "--memory"
      : options.choosesMicrobatches ? "--microbatches auto"
      : options.choosesOffload || options.offloadsActivations || !options.offload.empty()
          ? "--offload"
          : nullptr;
  if (other)
    throw Failure(Exit::usage,
                  concat(other, " does not go with --mesh pp=", mesh.axes[size_t(axis)].size,
                         " yet: leave one of the two out"));
}

void checkMeshOptions(const CompileOptions &options) {
  checkStages(options);
  const std::string ranks = ranksOf(options).mesh;
  if (!ranks.empty() && std::get<Mesh>(Mesh::parse(ranks)).ranks() > 1 &&
      !options.target.starts_with("cpu"))
    throw Failure(Exit::usage,
                  (options.deterministic ? "--deterministic" : "--mesh " + options.mesh) +
                      ": ranks are CPUs yet, and this is for " + options.target +
                      ": give a --target of CPUs");
  if (options.deterministic)
    checkDeterministic(options);
  if (options.memoryIsHere && !options.mesh.empty())
    throw Failure(Exit::usage, "--memory here is for all ranks of --mesh " + options.mesh +
                                   " together, and each gets a size of its own: give one");
  bool hasRows = std::get<Mesh>(Mesh::parse(options.mesh)).find(dataAxis) >= 0;
  if (options.zero && !hasRows)
    throw Failure(Exit::usage, "--zero needs a --mesh dp=N over whose ranks it is cut");
}

} // namespace weir
