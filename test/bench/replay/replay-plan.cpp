//===- replay-plan.cpp - What a plan's step would take on other links ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "artifact/Sharding.h"
#include "runtime/core/Program.h"
#include "runtime/devices/MeshDevice.h"
#include "test/bench/replay/MeasureActions.h"
#include "test/bench/replay/ReplayDevice.h"
#include "tools/common/CommandLine.h"
#include "tools/common/Files.h"
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>

using namespace weir;
using nlohmann::ordered_json;

static ordered_json listed(const artifact::Program &program, const std::vector<double> &seconds) {
  ordered_json list = ordered_json::array();
  size_t number = 0;
  for (const artifact::Entry *entry : *program.entries())
    if (entry->name()->string_view() == "step")
      for (const artifact::Action *action : artifact::actionsOf(*entry)) {
        spec::Cost cost = artifact::costOf(program, *action);
        list.push_back({{"what", artifact::describeAt(program, *action)},
                        {"flops", cost.flops},
                        {"bytes", cost.bytes},
                        {"seconds", seconds[number++]}});
      }
  return list;
}

using Actions = flatbuffers::Vector<flatbuffers::Offset<artifact::Action>>;

/// Of actions from that number on, each as often as it runs.
static double busy(const Actions &actions, const std::vector<double> &seconds, size_t &number) {
  double sum = 0;
  for (const artifact::Action *action : actions) {
    sum += seconds[number++];
    if (const artifact::Loop *loop = action->work_as_Loop())
      sum += double(loop->count()) * busy(*loop->body(), seconds, number);
  }
  return sum;
}

static double busy(const artifact::Program &program, const std::vector<double> &seconds) {
  size_t number = 0;
  for (const artifact::Entry *entry : *program.entries())
    if (entry->name()->string_view() == "step")
      return busy(*entry->actions(), seconds, number);
  return 0;
}

/// Of each program that ranks run.
using Paces = std::map<const artifact::Program *, replay::Pace>;

static Paces measure(const artifact::Program &program, int steps, const replay::Links &links,
                     double lasts) {
  Paces paces;
  double most = 0;
  for (int64_t rank = 0; rank < artifact::meshOf(program).ranks(); ++rank) {
    const artifact::Program &own = artifact::programOf(program, rank);
    if (paces.contains(&own))
      continue;
    paces[&own] = {replay::measureActions(own, rank, steps), links};
    most = std::max(most, busy(own, paces[&own].seconds));
  }
  for (auto &[own, pace] : paces)
    pace.scale = most > 0 ? std::max(1.0, lasts / most) : 1;
  return paces;
}

static Exit run(int argc, char **argv) {
  CLI::App app("Measures what each action of each rank's step takes by itself, on one core, and "
               "then lets all ranks sleep through a step on stated links, each queue a thread.",
               "replay-plan");
  std::string path;
  int steps = 3;
  bool lists = false, replays = true;
  replay::Links links{1e9, 1e-5};
  double lasts = 4, scale = 1;
  app.add_option("artifact", path)->required();
  app.add_option("--steps", steps, "That are measured")->check(CLI::Range(1, 1000));
  app.add_option("--bandwidth", links.bandwidth, "Bytes a second between any two devices")
      ->check(CLI::Range(1.0, 1e15));
  app.add_option("--latency", links.latency, "Seconds");
  app.add_option("--lasts", lasts,
                 "Seconds that the replay lasts at least: all times are multiplied, so that what a "
                 "system takes to wake a thread is little beside them");
  app.add_flag("--actions", lists, "List what was measured of rank 0's");
  app.add_flag("!--no-replay", replays, "Measure alone");
  if (auto status = parseCommandLine(app, argc, argv))
    return *status;
  prctl(PR_SET_TIMERSLACK, 1);
  auto makeAll = [&](const artifact::Program &program, const DeviceOptions &options) {
    Paces paces = measure(program, steps, links, lasts);
    const artifact::Program &first = artifact::programOf(program, 0);
    scale = paces[&first].scale;
    if (lists)
      std::cout << listed(first, paces[&first].seconds).dump() << "\n";
    auto make = [paces](const artifact::Program &own, const DeviceOptions &options) {
      return replay::makeReplayDevice(own, options, paces.at(&own));
    };
    return program.mesh() ? makeMeshDevice(program, options, make) : make(program, options);
  };
  Program onNone(readArtifact(path), makeAll, {});
  if (!replays)
    return Exit::ok;
  int64_t begin = Trace::now();
  onNone.run(*onNone.entry("step"));
  double seconds = 1e-9 * double(Trace::now() - begin) / scale;
  std::cout << ordered_json{{"seconds", seconds}}.dump() << "\n";
  return Exit::ok;
}

int main(int argc, char **argv) {
  return guarded([&] { return run(argc, argv); });
}
