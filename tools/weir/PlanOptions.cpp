//===- PlanOptions.cpp - The options of weir plan ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/PlanOptions.h"
#include "runtime/run/Within.h"
#include "tools/weir/CompileOptions.h"
#include "tools/weir/MeshOptions.h"

namespace weir {

void addPlanOptions(CLI::App &app, CompileOptions &options, PlanModelOptions &plan) {
  app.add_option("--cluster", plan.cluster,
                 "What it is planned for: a file that describes devices and what joins them "
                 "(docs/guides/planning.md)")
      ->required()
      ->type_name("FILE.toml");
  addPrecisionOptions(app, options);
  addLayoutOptions(app, options);
  addExchangeOptions(app, options);
  app.add_option("--microbatches", options.microbatches,
                 "Only plans that cut a step's rows into so many parts")
      ->type_name("N")
      ->transform(integerWithin(1, 1 << 20));
  app.add_option("--recompute", options.recompute,
                 "Only plans that compute these blocks again, such as h.*.mlp, where memory is "
                 "short")
      ->type_name("PATH")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option *plans =
      app.add_option("--plan", plan.plans,
                     "Say what this plan takes, which weir plan wrote or you did; give several to "
                     "compare them. Nothing is searched then")
          ->type_name("FILE.toml")
          ->expected(1)
          ->take_all()
          ->allow_extra_args(false);
  app.add_option("--axes", plan.axes,
                 "Only meshes of these axes: pp, dp, ep, cp, tp (default: all of them)")
      ->type_name("AXIS[,AXIS]")
      ->delimiter(',')
      ->check(CLI::IsMember({"pp", "dp", "ep", "cp", "tp"}))
      ->excludes(plans);
  app.add_flag("--all-devices", plan.allDevices,
               "Only meshes of all devices, were some to be faster alone")
      ->excludes(plans);
  app.add_option("--best", plan.best, "How many plans to list")
      ->type_name("N")
      ->transform(integerWithin(1, 1000))
      ->capture_default_str()
      ->excludes(plans);
  app.add_option("--lower", plan.lowered,
                 "How many plans to lower at most, which says exactly what they take; 0: none, all "
                 "figures are estimates (default: 32, or as many as --best lists, and all of "
                 "--plan)")
      ->type_name("N")
      ->transform(integerWithin(0, 100000));
  CLI::Option *why =
      app.add_option("--why", plan.why, "Say why the second of these plans is slower")
          ->type_name("A B")
          ->expected(2)
          ->check(CLI::Range(1, 1000));
  CLI::Option *output = writesFile(
      app.add_option("-o", plan.output, "Write the best plan here, for weir compile --plan"),
      ".toml");
  app.add_option("--take", plan.take, "Write this one of the plans instead of the first")
      ->type_name("N")
      ->transform(integerWithin(1, 1000))
      ->needs(output);
  app.add_flag("--json", plan.json, "As one JSON object")->excludes(why);
}

} // namespace weir
