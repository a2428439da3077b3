//===- PlanOptions.cpp - The options of weir plan ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/options/PlanOptions.h"
#include "runtime/run/OptionRanges.h"
#include "support/Error.h"
#include "support/Text.h"
#include "tools/weir/options/CompileOptions.h"
#include "tools/weir/options/PlanFileOptions.h"
#include "tools/weir/options/StrategyOptions.h"
#include <algorithm>

namespace weir {

/// The fields of a strategy that may be fixed, beside those of precision.
static constexpr std::string_view searched[] = {
    "mesh",      "zero",    "schedule",          "sequence-parallel", "microbatches",
    "recompute", "overlap", "grad-reduce-dtype", "tp-reduce-dtype"};

void addPlanOptions(CLI::App &app, CompileOptions &options, PlanModelOptions &plan) {
  app.add_option("--cluster", plan.cluster, "Description of the devices and the links between them")
      ->group("Search")
      ->required()
      ->type_name("FILE.toml");
  // What else a plan decides cannot be asked for yet.
  addStrategyOptions(app, options, [](const strategy::Field &field) {
    return field.group == strategy::Field::Group::precision ||
           std::ranges::count(searched, field.name);
  });
  auto say = [&](const char *name, const char *value, const char *about) {
    app.get_option(name)->type_name(value)->description(about)->default_str("");
  };
  say("--mesh", "AXIS=N,...", "Use only this mesh, such as dp=2,tp=2 (axes: dp, tp, pp, ep, cp)");
  say("--zero", "0..3", "Use only this ZeRO stage (default: any)");
  say("--schedule", "NAME", "Use only this pipeline schedule (default: any)");
  say("--sequence-parallel", "on|off", "Use only plans with, or without, sequence parallelism");
  say("--microbatches", "N", "Use only plans with N microbatches");
  say("--recompute", "PATTERN", "Recompute these blocks, such as h.*.mlp, where memory is short");
  CLI::Option *plans =
      app.add_option("--plan", plan.plans, "Compare these plans instead of searching")
          ->group("Search")
          ->type_name("FILE.toml")
          ->expected(1)
          ->take_all()
          ->allow_extra_args(false);
  app.add_option("--axes", plan.axes, "Use only these axes: pp, dp, ep, cp, tp (default: all)")
      ->group("Search")
      ->type_name("AXIS[,AXIS]")
      ->delimiter(',')
      ->check(CLI::IsMember({"pp", "dp", "ep", "cp", "tp"}))
      ->excludes(plans);
  app.add_flag("--all-devices", plan.allDevices, "Use all devices, even where fewer are faster")
      ->group("Search")
      ->excludes(plans);
  app.add_option("--best", plan.best, "Number of plans to list")
      ->group("Search")
      ->type_name("N")
      ->transform(integerWithin(1, 1000))
      ->capture_default_str()
      ->excludes(plans);
  app.add_option("--exact", plan.lowered,
                 "Number of plans to compile for exact figures (default: 32)")
      ->group("Search")
      ->type_name("N")
      ->transform(integerWithin(0, 100000));
  CLI::Option *why = app.add_option("--why", plan.why, "Explain why plan B is slower than plan A")
                         ->group("Output")
                         ->type_name("A B")
                         ->expected(2)
                         ->transform(integerWithin(1, 1000));
  CLI::Option *output =
      writesFile(app.add_option("-o", plan.output, "Write the best plan, for weir compile --plan")
                     ->group("Output"),
                 ".toml");
  app.add_option("--choose", plan.take, "Write this plan instead of the best one")
      ->group("Output")
      ->type_name("N")
      ->transform(integerWithin(1, 1000))
      ->needs(output);
  app.add_flag("--json", plan.json, "Print the plans as one JSON object")
      ->group("Output")
      ->excludes(why);
}

void checkPlanOptions(const CompileOptions &options, const PlanModelOptions &plan) {
  const Strategy &strategy = options.strategy;
  auto hasAny = [&](std::initializer_list<std::string_view> axes) {
    return plan.axes.empty() || std::ranges::any_of(plan.axes, [&](const std::string &axis) {
             return std::ranges::find(axes, axis) != axes.end();
           });
  };
  if (plan.json && plan.output == "-")
    throw Failure(Exit::usage, "--json and -o -: both write to standard output; give -o a file");
  if (!options.chosenMesh.empty())
    throw Failure(Exit::usage, concat("--mesh ", options.chosenMesh,
                                      ": weir plan chooses the mesh; remove the option"));
  if (options.choosesMicrobatches)
    throw Failure(Exit::usage,
                  "--microbatches auto: weir plan chooses the microbatches; remove the option");
  if (strategy.hasMesh() && !plan.axes.empty())
    throw Failure(Exit::usage,
                  "--mesh and --axes: a mesh already names its axes; remove one of the two");
  if (strategy.schedule.isGiven() && !hasAny({stageAxis}))
    throw Failure(Exit::usage,
                  "--schedule applies to pipeline stages, but --axes has no pp: add it");
  if (*strategy.zero > 0 && !hasAny({dataAxis, expertAxis, contextAxis}))
    throw Failure(Exit::usage, concat("--zero ", *strategy.zero,
                                      " shards over dp, ep and cp: add one of them to --axes"));
  requireOneMesh(options, "weir plan");
  // Rules that ask for an axis are for the mesh, which is searched for.
  if (strategy.hasMesh())
    checkStrategy(options);
  else if (std::string wrong =
               strategy::brokenRule(strategy, "reduce-dtypes-are-of-precision", contextOf(options));
           !wrong.empty())
    throw Failure(Exit::usage, wrong);
  const std::string given = strategy.hasMesh() ? "--mesh" : decidedBeside(options);
  if (!given.empty() && !plan.plans.empty())
    throw Failure(Exit::usage, concat(given, " conflicts with --plan, which already sets it: "
                                             "remove one of the two, or edit the file"));
  for (const std::string &path : plan.plans) {
    CompileOptions one = options;
    strategy::copyGiven(one.strategy, readPlan(path).strategy);
    checkStrategy(one, path);
  }
}

} // namespace weir
