//===- InspectPipeline.cpp - Idle time of pipeline stages --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/InspectPipeline.h"
#include "artifact/Actions.h"
#include "artifact/Sharding.h"
#include "support/Table.h"
#include "support/mesh/MachineRates.h"
#include "support/mesh/Stages.h"
#include "tools/weir/Numbers.h"
#include <algorithm>
#include <map>
#include <tuple>

using nlohmann::ordered_json;

namespace weir {
namespace {

/// One item of a rank's program: some work, or a send or receive.
struct Item {
  double work = 0;
  const artifact::Transfer *transfer = nullptr;
};

struct Stage {
  int64_t rank;
  std::vector<Item> items = {};
  size_t next = 0;
  double free = 0, work = 0;
  uint64_t sent = 0;
};

void collect(const artifact::Program &program,
             const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions,
             double rounds, Stage &stage) {
  for (const artifact::Action *action : actions) {
    if (const artifact::Transfer *transfer = action->work_as_Transfer()) {
      stage.items.push_back({0, transfer});
      continue;
    }
    if (const artifact::Loop *loop = action->work_as_Loop()) {
      collect(program, *loop->body(), rounds * loop->count(), stage);
      continue;
    }
    spec::Cost cost = artifact::costOf(program, *action);
    stage.items.push_back({rounds * machines::stageCost(double(cost.flops), double(cost.bytes))});
  }
}

/// Simulates all stages until none can continue. Returns the time at which the last one ends.
double follow(std::vector<Stage> &stages) {
  using Way = std::tuple<int64_t, uint32_t, uint32_t, uint32_t>; // from, to, number, round
  std::map<Way, double> sent;
  double end = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t s = 0; s < stages.size(); ++s) {
      Stage &stage = stages[s];
      for (; stage.next < stage.items.size(); ++stage.next, moved = true) {
        const Item &item = stage.items[stage.next];
        if (!item.transfer) {
          stage.free += item.work;
          stage.work += item.work;
          continue;
        }
        const artifact::Transfer &transfer = *item.transfer;
        if (transfer.kind() == artifact::TransferKind::send) {
          sent[{int64_t(s), transfer.peer(), transfer.number(), transfer.round()}] = stage.free;
          stage.sent += transfer.size();
          continue;
        }
        auto found =
            sent.find({int64_t(transfer.peer()), uint32_t(s), transfer.number(), transfer.round()});
        if (found == sent.end())
          break;
        stage.free = std::max(stage.free, found->second);
      }
      end = std::max(end, stage.free);
    }
  }
  return end;
}

} // namespace

ordered_json describePipeline(const artifact::Program &program) {
  Mesh mesh = artifact::meshOf(program);
  if (stagesOf(mesh) == 1)
    return nullptr;
  std::vector<Stage> stages;
  int64_t microbatches = 1;
  for (int64_t rank : firstRanksOf(mesh)) {
    Stage &stage = stages.emplace_back(Stage{rank});
    const artifact::Program &own = artifact::programOf(program, rank);
    for (const artifact::Entry *entry : *own.entries())
      if (entry->name()->string_view() == "step")
        collect(own, *entry->actions(), 1, stage);
    for (const Item &item : stage.items)
      if (item.transfer)
        microbatches = std::max<int64_t>(microbatches, int64_t(item.transfer->round()) + 1);
  }
  double time = follow(stages), all = 0;
  for (const Stage &stage : stages)
    all += stage.work;
  double count = double(stages.size());
  ordered_json rows = ordered_json::array();
  for (const Stage &stage : stages) {
    const artifact::Device &device = artifact::deviceOf(artifact::programOf(program, stage.rank));
    rows.push_back({{"rank", stage.rank},
                    {"persistent", device.persistent()},
                    {"scratch", device.arena() - device.persistent()},
                    {"sent", stage.sent},
                    {"work", all ? stage.work / all : 0},
                    {"waits", time ? 1 - stage.work / time : 0}});
  }
  return {{"stages", rows},
          {"microbatches", microbatches},
          {"bubble", all ? time / (all / count) - 1 : 0},
          {"textbook", (count - 1) / double(microbatches)}};
}

void printPipeline(const ordered_json &facts, std::ostream &out) {
  out << "\nPipeline stages, in a step of " << facts["microbatches"].dump() << " microbatches:\n";
  Table stages(
      {"first rank", "parameters and state", "scratch", "bytes sent", "share of work", "idle"},
      {false, true, true, true, true, true});
  for (const ordered_json &row : facts["stages"])
    stages.add({row["rank"].dump(), grouped(row["persistent"]), grouped(row["scratch"]),
                grouped(row["sent"]), percent(row["work"], 1), percent(row["waits"], 1)});
  stages.print(out);
  out << "Pipeline bubble: " << percent(facts["bubble"], 1)
      << " of the computation time, estimated from FLOPs and bytes; with equal stages, GPipe and "
         "1F1B have "
      << percent(facts["textbook"], 1) << ", (p - 1) / m\n";
}

} // namespace weir
