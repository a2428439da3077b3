//===- PlanFileOptions.cpp - --plan and what it stands for ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/PlanFileOptions.h"
#include "codegen/targets/Targets.h"
#include "passes/pipeline/Schedules.h"
#include "runtime/base/Error.h"
#include "runtime/base/Mesh.h"
#include "runtime/base/Precision.h"
#include "runtime/base/Text.h"
#include <algorithm>

namespace weir {

void setChoice(const planner::Choice &choice, CompileOptions &options) {
  options.mesh = choice.mesh;
  options.zero = choice.zero;
  options.microbatches = choice.microbatches;
  options.schedule = choice.schedule;
  options.recompute = choice.recompute;
  options.sequenceParallel = choice.sequenceParallel;
  options.contextParallel = choice.contextParallel;
  options.offload = choice.offload;
  if (!choice.mesh.empty()) {
    options.link = choice.link;
    options.rates = choice.rates;
  }
}

const char *decidedBeside(const CompileOptions &options) {
  return options.saysZero                                      ? "--zero"
         : options.microbatches || options.choosesMicrobatches ? "--microbatches"
         : !options.schedule.empty()                           ? "--schedule"
         : !options.recompute.empty()                          ? "--recompute"
         : options.saysSequenceParallel                        ? "--sequence-parallel"
         : !options.contextParallel.empty()                    ? "--context-parallel"
         : !options.offload.empty() || options.choosesOffload || options.offloadsActivations
             ? "--offload"
         : !options.link.empty()  ? "--link"
         : !options.rates.empty() ? "--rates"
                                  : nullptr;
}

planner::PlanFile readPlan(const std::string &path) {
  planner::PlanFile file = planner::readPlanFile(path);
  const planner::Choice &choice = file.choice;
  auto wrong = [&](const std::string &what) { throw Failure(Exit::usage, path + ": " + what); };
  if (!file.target.empty() && !makeTarget(file.target))
    wrong(concat("plan.target: expected ", targetOptions(), ", but found ", file.target));
  if (!file.precision.empty() && !precisionNamed(file.precision))
    wrong(concat("plan.precision: expected ", precisionOptions(), ", but found ", file.precision));
  const Mesh mesh = std::get<Mesh>(Mesh::parse(choice.mesh));
  for (const Mesh::Axis &axis : mesh.axes)
    if (!isOfBatch(axis.name) && axis.name != tensorAxis && axis.name != stageAxis)
      wrong(concat("plan.mesh: ", axis.name, " is no axis: expected dp, tp, ep, cp or pp"));
  if (std::ranges::find(choice.recompute, "") != choice.recompute.end())
    wrong("plan.recompute: expected paths of blocks, such as \"h.*.mlp\", but found \"\"");
  if (choice.zero > 3)
    wrong(concat("plan.zero: expected 0 to 3, but found ", choice.zero));
  if (!choice.schedule.empty() && !pipeline::findSchedule(choice.schedule))
    wrong(concat("plan.schedule: there is no schedule ", choice.schedule, ": expected ",
                 pipeline::scheduleNames()));
  auto isOneOf = [](const std::string &word, std::initializer_list<const char *> words) {
    return word.empty() || std::ranges::find(words, word) != words.end();
  };
  if (!isOneOf(choice.contextParallel, {"all-to-all", "gather", "ring"}))
    wrong(concat("plan.context-parallel: expected all-to-all, gather or ring, but found ",
                 choice.contextParallel));
  if (!isOneOf(choice.offload, {"optimizer", "parameters"}))
    wrong(concat("plan.offload: expected optimizer or parameters, but found ", choice.offload));
  return file;
}

void readPlanFile(CompileOptions &options) {
  if (options.plan.empty())
    return;
  const planner::PlanFile file = readPlan(options.plan);
  const char *given = !options.mesh.empty()   ? "--mesh"
                      : options.deterministic ? "--deterministic"
                                              : decidedBeside(options);
  if (given)
    throw Failure(Exit::usage, concat(given, " and --plan: a plan says that already; leave one of "
                                             "the two out, or change the file"));
  // What the command line does not say is as it was planned.
  auto take = [&](std::string &word, bool said, const std::string &planned, const char *option) {
    if (planned.empty())
      return;
    if (said && word != planned)
      throw Failure(Exit::usage,
                    concat(option, " ", word, " and --plan ", options.plan, ", which was made for ",
                           planned, ": plan again, or leave the option out"));
    word = planned;
  };
  take(options.target, options.saysTarget, file.target, "--target");
  take(options.precision, options.saysPrecision, file.precision, "--precision");
  setChoice(file.choice, options);
}

} // namespace weir
