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
  app.add_option("--cluster", plan.cluster, "Description of the devices and the links between them")
      ->group("Search")
      ->required()
      ->type_name("FILE.toml");
  addPrecisionOptions(app, options);
  addLayoutOptions(app, options);
  addExchangeOptions(app, options);
  app.add_option("--microbatches", options.microbatches, "Use only plans with N microbatches")
      ->group("Search")
      ->type_name("N")
      ->transform(integerWithin(1, 1 << 20));
  app.add_option("--recompute", options.recompute,
                 "Recompute these blocks, such as h.*.mlp, where memory is short")
      ->group("Search")
      ->type_name("PATH")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
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
  app.add_option("--lower", plan.lowered,
                 "Number of plans to compile for exact figures (default: 32)")
      ->group("Search")
      ->type_name("N")
      ->transform(integerWithin(0, 100000));
  CLI::Option *why = app.add_option("--why", plan.why, "Explain why plan B is slower than plan A")
                         ->group("Output")
                         ->type_name("A B")
                         ->expected(2)
                         ->check(CLI::Range(1, 1000));
  CLI::Option *output =
      writesFile(app.add_option("-o", plan.output, "Write the best plan, for weir compile --plan")
                     ->group("Output"),
                 ".toml");
  app.add_option("--take", plan.take, "Write this plan instead of the best one")
      ->group("Output")
      ->type_name("N")
      ->transform(integerWithin(1, 1000))
      ->needs(output);
  app.add_flag("--json", plan.json, "Print the plans as one JSON object")
      ->group("Output")
      ->excludes(why);
}

} // namespace weir
