//===- InspectOptions.cpp - What weir inspect is asked --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/InspectOptions.h"
#include "runtime/run/Within.h"
#include "tools/common/Files.h"
#include "tools/weir/ArtifactPlan.h"
#include "tools/weir/CountCasts.h"
#include "tools/weir/Inspect.h"
#include "tools/weir/InspectFlops.h"
#include "tools/weir/InspectMemory.h"
#include "tools/weir/InspectPage.h"
#include "tools/weir/InspectPrecision.h"
#include "tools/weir/InspectSharding.h"
#include "tools/weir/InspectTime.h"
#include "tools/weir/TargetRates.h"
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

} // namespace

std::function<Exit()> addInspectOptions(CLI::App &app, const std::string &artifact) {
  auto given = std::make_shared<Given>();
  auto *json = app.add_flag("--json", given->json, "As one JSON object");
  auto *plan =
      app.add_flag("--plan", given->plan, "What is executed, as the text of the plan dialect")
          ->excludes(json);
  auto *precision =
      app.add_flag(
             "--precision", given->precision,
             "What computes and is stored in which type, and why, by line; what casts it takes")
          ->excludes(plan);
  auto *lines =
      app.add_flag(
             "--lines", given->lines,
             "FLOPs and bytes of each entry by line of the model: what its mathematics takes, "
             "and what is executed")
          ->excludes(plan, precision);
  auto *memory =
      app.add_flag("--memory", given->memory,
                   "What a step keeps for its gradients, by line, and what it would take not "
                   "to; what is computed twice instead")
          ->excludes(plan, precision, lines);
  auto *sharding =
      app.add_flag("--sharding", given->sharding,
                   "Of several ranks: how parameters and state lie on them, what each takes, and "
                   "what they tell each other in a step, by line")
          ->excludes(plan, precision, lines, memory);
  app.add_option("--cluster", given->cluster,
                 "With --sharding, what each exchange takes on the machines that this file "
                 "describes (docs/guides/planning.md)")
      ->type_name("FILE.toml")
      ->needs(sharding);
  auto *time = app.add_flag("--time", given->isTime,
                            "How long a step takes, predicted, and what of it is for what ranks "
                            "exchange, by line")
                   ->excludes(plan, precision, lines, memory, sharding);
  app.add_option("--link", given->time.link,
                 "What joins ranks, for --time: bytes per second, and the time that each exchange "
                 "takes besides, such as 50GB/s,5us (default: 10GB/s,20us, assumed)")
      ->type_name("BYTES/s[,TIME]")
      ->check(isLink)
      ->needs(time);
  app.add_option("--rates", given->time.rates,
                 "How fast a device computes and reads its memory, for --time, such as "
                 "400TFLOP/s,3TB/s (default: what the compiler takes the target for, assumed)")
      ->type_name("FLOP/s,BYTES/s")
      ->check([](const std::string &text) {
        return Rates::parse(text) ? ""
                                  : text + " are no rates: expected operations and bytes of memory "
                                           "per second, such as 400TFLOP/s,3TB/s";
      })
      ->needs(time);
  auto *html =
      writesFile(
          app.add_option("--html", given->page,
                         "Write a page: memory over the step, kernels, calls, beside the model"),
          ".html")
          ->excludes(json, plan, precision, lines, memory, sharding, time);
  app.add_option("--model", given->models,
                 "With --html: the model's file, where it is not beside the artifact")
      ->type_name("FILE.weir")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->needs(html);
  return [given, &artifact] {
    if (!given->page.empty()) {
      inspectPage(artifact, given->page, given->models);
    } else if (given->lines) {
      inspectLines(artifact, given->json);
    } else if (given->plan) {
      std::cout << planText(readArtifact(artifact));
    } else if (given->precision) {
      std::vector<std::byte> bytes = readArtifact(artifact);
      inspectPrecision(bytes, countCasts(bytes), given->json);
    } else if (given->memory) {
      inspectMemory(artifact, given->json);
    } else if (given->sharding) {
      inspectSharding(artifact, given->cluster, given->json);
    } else if (given->isTime) {
      inspectTime(artifact, given->time, ratesOfTarget, given->json);
    } else {
      inspect(artifact, given->json);
    }
    return Exit::ok;
  };
}

} // namespace weir
