//===- replay-plan.cpp - What a plan's step would take on other links ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/Actions.h"
#include "runtime/artifact/Sharding.h"
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

static Exit run(int argc, char **argv) {
  CLI::App app("Measures what each action of each rank's step takes by itself, on one core, and "
               "then lets all ranks sleep through a step on stated links, each queue a thread.",
               "replay-plan");
  std::string path;
  int steps = 3;
  bool lists = false, replays = true;
  replay::Links links{1e9, 1e-5};
  double scale = 10;
  app.add_option("artifact", path)->required();
  app.add_option("--steps", steps, "That are measured");
  app.add_option("--bandwidth", links.bandwidth, "Bytes a second between any two devices");
  app.add_option("--latency", links.latency, "Seconds");
  app.add_option("--scale", scale, "How much longer the replay takes");
  app.add_flag("--actions", lists, "List what was measured of rank 0's");
  app.add_flag("!--no-replay", replays, "Measure alone");
  if (auto status = parseCommandLine(app, argc, argv))
    return *status;
  prctl(PR_SET_TIMERSLACK, 1);
  std::vector<std::byte> bytes = readArtifact(path);
  Program onNone(bytes,
                 [&](const artifact::Program &program, const DeviceOptions &options) {
                   std::map<const artifact::Program *, replay::Pace> paces;
                   Mesh mesh = artifact::meshOf(program);
                   ordered_json said;
                   for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
                     const artifact::Program &own = artifact::programOf(program, rank);
                     if (paces.contains(&own))
                       continue;
                     replay::Pace &pace = paces[&own];
                     pace = {replay::measureActions(own, rank, steps), links, scale};
                     if (lists && rank == 0)
                       std::cout << listed(own, pace.seconds).dump() << "\n";
                   }
                   auto make = [paces](const artifact::Program &own, const DeviceOptions &options) {
                     return replay::makeReplayDevice(own, options, paces.at(&own));
                   };
                   return program.mesh() ? makeMeshDevice(program, options, make)
                                         : make(program, options);
                 },
                 {});
  if (!replays)
    return Exit::ok;
  const artifact::Entry &step = *onNone.entry("step");
  onNone.run(step);
  int64_t begin = Trace::now();
  onNone.run(step);
  std::cout << ordered_json{{"seconds", 1e-9 * double(Trace::now() - begin) / scale}}.dump()
            << "\n";
  return Exit::ok;
}

int main(int argc, char **argv) {
  return guarded([&] { return run(argc, argv); });
}
