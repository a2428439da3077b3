//===- InspectOptions.cpp - What weir inspect is asked --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/options/InspectOptions.h"
#include "runtime/run/OptionRanges.h"
#include "strategy/Values.h"
#include "tools/common/Files.h"
#include "tools/weir/commands/CountCasts.h"
#include "tools/weir/inspect/ArtifactPlan.h"
#include "tools/weir/inspect/Inspect.h"
#include "tools/weir/inspect/InspectFlops.h"
#include "tools/weir/inspect/InspectMemory.h"
#include "tools/weir/inspect/InspectPage.h"
#include "tools/weir/inspect/InspectPrecision.h"
#include "tools/weir/inspect/InspectSharding.h"
#include "tools/weir/inspect/InspectTime.h"
#include "tools/weir/planning/TargetRates.h"
#include <iostream>
#include <memory>

namespace weir {
namespace {

/// What the options are read into.
struct Given {
  bool json = false, plan = false, precision = false, lines = false, memory = false,
       sharding = false, isTime = false;
  std::string page, cluster;
  std::vector<std::string> models;
  TimeOptions time;
};

/// Prints the view that the options name, or the summary.
void show(const Given &given, const std::string &artifact) {
  if (!given.page.empty()) {
    inspectPage(artifact, given.page, given.models);
  } else if (given.lines) {
    inspectLines(artifact, given.json);
  } else if (given.plan) {
    std::cout << planText(readUndamagedArtifact(artifact));
  } else if (given.precision) {
    std::vector<std::byte> bytes = readUndamagedArtifact(artifact);
    inspectPrecision(bytes, countCasts(bytes), given.json);
  } else if (given.memory) {
    inspectMemory(artifact, given.json);
  } else if (given.sharding) {
    inspectSharding(artifact, given.cluster, given.json);
  } else if (given.isTime) {
    inspectTime(artifact, given.time, ratesOfTarget, given.json);
  } else {
    inspect(artifact, given.json);
  }
}

} // namespace

std::function<Exit()> addInspectOptions(CLI::App &app, const std::string &artifact) {
  auto given = std::make_shared<Given>();
  auto *json = app.add_flag("--json", given->json, "Print one JSON object")->group("Output");
  auto *plan =
      app.add_flag("--plan", given->plan, "Print the plan that the runtime executes, as MLIR")
          ->group("Views")
          ->excludes(json);
  auto *precision =
      app.add_flag("--precision", given->precision, "Compute and storage types by line, and casts")
          ->group("Views")
          ->excludes(plan);
  auto *lines = app.add_flag("--lines", given->lines, "FLOPs and bytes by line of the model")
                    ->group("Views")
                    ->excludes(plan, precision);
  auto *memory = app.add_flag("--memory", given->memory, "Saved and recomputed activations by line")
                     ->group("Views")
                     ->excludes(plan, precision, lines);
  auto *sharding = app.add_flag("--sharding", given->sharding,
                                "Shardings, memory per rank, and communication by line")
                       ->group("Views")
                       ->excludes(plan, precision, lines, memory);
  app.add_option("--cluster", given->cluster,
                 "With --sharding, also predict communication times on this cluster")
      ->group("Views")
      ->type_name("FILE.toml")
      ->needs(sharding);
  auto *time = app.add_flag("--time", given->isTime,
                            "Predicted time of a step, and exposed communication by line")
                   ->group("Views")
                   ->excludes(plan, precision, lines, memory, sharding);
  app.add_option("--link", given->time.link,
                 "With --time, the assumed interconnect (default: 10GB/s,20us)")
      ->group("Views")
      ->type_name("BYTES/s[,TIME]")
      ->check([](const std::string &text) {
        Link link;
        return strategy::valueOf(text, link);
      })
      ->needs(time);
  app.add_option("--rates", given->time.rates, "With --time, the assumed compute and memory rates")
      ->group("Views")
      ->type_name("FLOP/s,BYTES/s")
      ->check([](const std::string &text) {
        return Rates::parse(text) ? ""
                                  : "expected FLOPs per second and memory bandwidth, such as "
                                    "400TFLOP/s,3TB/s, but found " +
                                        text;
      })
      ->needs(time);
  auto *html =
      writesFile(
          app.add_option("--html", given->page,
                         "Write a page of memory, kernels and calls, linked to the model's lines")
              ->group("Output"),
          ".html")
          ->excludes(json, plan, precision, lines, memory, sharding, time);
  app.add_option("--model", given->models,
                 "With --html, the model's file, if it is not beside the artifact")
      ->group("Output")
      ->type_name("FILE.weir")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->needs(html);
  return [given, &artifact] {
    show(*given, artifact);
    return Exit::ok;
  };
}

} // namespace weir
