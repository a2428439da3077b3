//===- PlanFileOptions.cpp - Strategies that are read from plan files ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/options/PlanFileOptions.h"
#include "codegen/targets/Targets.h"
#include "strategy/Fields.h"
#include "support/Error.h"
#include "support/Text.h"

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
  // They describe what joins the ranks of a mesh; older files have a link without one.
  if (!file.strategy.hasMesh()) {
    file.strategy.link = Strategy().link;
    file.strategy.rates.reset();
  }
  return file;
}

void requireNoConflict(const Strategy &said, const Strategy &planned, const std::string &path) {
  for (const Field &field : strategy::fields())
    if (field.isGiven(said) && field.isGiven(planned) && field.texts(said) != field.texts(planned))
      throw Failure(Exit::usage, concat(optionOf(field, said), " conflicts with --plan ", path,
                                        ", which was made for ", join(field.texts(planned)),
                                        ": plan again, or remove the option"));
}

void takePlanFile(CompileOptions &options) {
  if (options.plan.empty())
    return;
  const planner::PlanFile file = readPlan(options.plan);
  const std::string given = options.strategy.hasMesh() || !options.chosenMesh.empty() ? "--mesh"
                            : *options.strategy.deterministic ? "--deterministic"
                                                              : decidedBeside(options);
  if (!given.empty())
    throw Failure(Exit::usage, concat(given, " conflicts with --plan, which already sets it: "
                                             "remove one of the two, or edit the file"));
  // What the command line says besides has to be what was planned for.
  if (!file.target.empty()) {
    if (options.target.isGiven() && *options.target != file.target)
      throw Failure(Exit::usage, concat("--target ", *options.target, " conflicts with --plan ",
                                        options.plan, ", which was made for ", file.target,
                                        ": plan again, or remove the option"));
    options.target = file.target;
  }
  requireNoConflict(options.strategy, file.strategy, options.plan);
  strategy::copyGiven(options.strategy, file.strategy);
}

} // namespace weir
