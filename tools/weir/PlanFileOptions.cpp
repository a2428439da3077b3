//===- PlanFileOptions.cpp - Strategies that are read from plan files ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/PlanFileOptions.h"
#include "codegen/targets/Targets.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include "strategy/Fields.h"

namespace weir {

using strategy::Field;

std::string decidedBeside(const CompileOptions &options) {
  for (const Field &field : strategy::fields()) {
    bool isChosen = (field.name == "microbatches" && options.choosesMicrobatches) ||
                    (field.name == "offload" && options.choosesOffload);
    if (field.by == Field::By::planner && field.name != "mesh" &&
        (isChosen || field.isGiven(options.strategy)))
      return concat("--", field.name);
  }
  return "";
}

planner::PlanFile readPlan(const std::string &path) {
  planner::PlanFile file = planner::readPlanFile(path);
  if (!file.target.empty() && !makeTarget(file.target))
    throw Failure(Exit::usage, concat(path, ": plan.target: expected ", targetOptions(),
                                      ", but found ", file.target));
  return file;
}

void takePlanFile(CompileOptions &options) {
  if (options.plan.empty())
    return;
  const planner::PlanFile file = readPlan(options.plan);
  const std::string given = options.strategy.hasMesh() || !options.chosenMesh.empty() ? "--mesh"
                            : *options.strategy.deterministic ? "--deterministic"
                                                              : decidedBeside(options);
  if (!given.empty())
    throw Failure(Exit::usage, concat(given, " and --plan: a plan says that already; leave one of "
                                             "the two out, or change the file"));
  // What the command line says besides has to be what was planned for.
  auto refuse = [&](std::string_view option, const std::string &said, const std::string &planned) {
    throw Failure(Exit::usage, concat("--", option, " ", said, " and --plan ", options.plan,
                                      ", which was made for ", planned,
                                      ": plan again, or leave the option out"));
  };
  if (!file.target.empty()) {
    if (options.target.isGiven() && *options.target != file.target)
      refuse("target", *options.target, file.target);
    options.target = file.target;
  }
  for (const Field &field : strategy::fields())
    if (field.isGiven(options.strategy) && field.isGiven(file.strategy) &&
        field.texts(options.strategy) != field.texts(file.strategy))
      refuse(field.name, join(field.texts(options.strategy)), join(field.texts(file.strategy)));
  strategy::copyGiven(options.strategy, file.strategy);
}

} // namespace weir
