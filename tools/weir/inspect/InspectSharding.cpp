//===- InspectSharding.cpp - weir inspect --sharding ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/InspectSharding.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "runtime/devices/Devices.h"
#include "support/Error.h"
#include "support/Table.h"
#include "support/Text.h"
#include "support/mesh/Stages.h"
#include "tools/common/Files.h"
#include "tools/weir/Numbers.h"
#include "tools/weir/inspect/InspectPipeline.h"
#include "tools/weir/inspect/PrintFacts.h"
#include <algorithm>
#include <map>

using nlohmann::ordered_json;

namespace weir {
namespace {

ordered_json ranksOf(const artifact::Program &program, const Mesh &mesh) {
  std::map<const artifact::Program *, std::vector<int64_t>> ranks;
  std::vector<const artifact::Program *> order;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const artifact::Program *own = &artifact::programOf(program, rank);
    if (!ranks.contains(own))
      order.push_back(own);
    ranks[own].push_back(rank);
  }
  ordered_json all = ordered_json::array();
  for (const artifact::Program *one : order) {
    const artifact::Device &device = artifact::deviceOf(*one);
    all.push_back(
        {{"ranks", ranks[one]}, {"persistent", device.persistent()}, {"arena", device.arena()}});
  }
  return all;
}

/// The reason for each variable's sharding, by its name.
std::map<std::string, std::string> reasonsOf(const artifact::Program &program) {
  std::map<std::string, std::string> reasons;
  if (program.placements())
    for (const artifact::Placement *placement : *program.placements())
      if (placement->variable())
        reasons[placement->what()->str()] = placement->why()->str();
  return reasons;
}

ordered_json valuesOf(const artifact::Program &program) {
  ordered_json all = ordered_json::array();
  if (program.placements())
    for (const artifact::Placement *placement : *program.placements())
      if (!placement->variable())
        all.push_back({{"at", artifact::placeOf(program, placement->location())},
                       {"ops", placement->what()->str()},
                       {"times", placement->times()},
                       {"layout", placement->layout()->str()},
                       {"why", placement->why()->str()}});
  return all;
}

ordered_json variablesOf(const artifact::Program &program, const Mesh &mesh) {
  ordered_json all = ordered_json::array();
  std::map<std::string, std::string> reasons = reasonsOf(program);
  for (uint32_t i = 0; i < program.variables()->size(); ++i) {
    const artifact::Variable *variable = program.variables()->Get(i);
    if (variable->role() == artifact::Role::run)
      continue;
    uint64_t bytes = sizeOf(artifact::elementOf(variable->dtype())), most = variable->size();
    for (int64_t size : *variable->shape())
      bytes *= uint64_t(size);
    if (program.others())
      for (const artifact::Program *other : *program.others())
        most = std::max(most, other->variables()->Get(i)->size());
    all.push_back(
        {{"name", variable->name()->str()},
         {"role", artifact::EnumNameRole(variable->role())},
         {"at", artifact::placeOf(program, variable->location())},
         {"shape", std::vector<int64_t>(variable->shape()->begin(), variable->shape()->end())},
         {"layout", variable->layout() ? ordered_json(variable->layout()->str()) : ordered_json()},
         {"why", reasons[variable->name()->str()]},
         {"bytes", bytes},
         {"most", most}});
  }
  return all;
}

/// Bytes that ranks receive in their steps, by line of the model, in order of first appearance.
class Exchanges {
public:
  /// `mesh` and `cluster` must outlive it. Without a cluster, it predicts no times.
  Exchanges(const Mesh &mesh, const planner::Cluster *cluster) : mesh(mesh), cluster(cluster) {}

  void addStep(const artifact::Program &program, int64_t ofRank) {
    rank = ofRank;
    for (const artifact::Entry *entry : *program.entries())
      if (entry->name()->string_view() == "step")
        add(program, *entry->actions(), 1);
  }

  ordered_json rows = ordered_json::array();
  ordered_json totals = ordered_json::object();

private:
  void add(const artifact::Program &program,
           const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions,
           uint64_t rounds) {
    for (const artifact::Action *action : actions)
      if (const artifact::Loop *loop = action->work_as_Loop())
        add(program, *loop->body(), rounds * loop->count());
      else if (const artifact::Collective *collective = action->work_as_Collective())
        add(placeOf(program, *action), artifact::EnumNameCollectiveKind(collective->kind()),
            collective->axis()->str(), rounds, artifact::receivedIn(*collective),
            cluster ? planner::secondsFor(*cluster, membersOf(collective->axis()->string_view()),
                                          artifact::exchangeOf(*collective))
                    : 0);
      else if (const artifact::Transfer *transfer = action->work_as_Transfer();
               transfer && transfer->kind() == artifact::TransferKind::receive)
        add(placeOf(program, *action), artifact::EnumNameTransferKind(transfer->kind()),
            transfer->axis()->str(), rounds, transfer->size(),
            cluster ? planner::secondsToSend(*cluster, peerOf(*transfer), rank,
                                             double(transfer->size()))
                    : 0);
  }

  planner::Members membersOf(std::string_view axis) const {
    return planner::membersOf(mesh, unsigned(mesh.find(axis)));
  }

  int64_t peerOf(const artifact::Transfer &transfer) const {
    unsigned axis = unsigned(mesh.find(transfer.axis()->string_view()));
    return mesh.along(rank, axis)[transfer.peer()];
  }

  static std::string placeOf(const artifact::Program &program, const artifact::Action &action) {
    bool isKnown = action.locations() && action.locations()->size();
    return isKnown ? artifact::placeOf(program, action.locations()->Get(0)) : "";
  }

  void add(const std::string &at, const std::string &kind, const std::string &axis, uint64_t times,
           uint64_t bytes, double seconds) {
    auto [row, isNew] = numbers.try_emplace({at, kind, axis}, rows.size());
    if (isNew)
      rows.push_back({{"at", at}, {"kind", kind}, {"axis", axis}, {"times", 0}, {"bytes", 0}});
    if (!totals.contains(axis))
      totals[axis] = {{"times", 0}, {"bytes", 0}};
    for (ordered_json *sum : {&rows[row->second], &totals[axis]}) {
      (*sum)["times"] = (*sum)["times"].get<uint64_t>() + times;
      (*sum)["bytes"] = (*sum)["bytes"].get<uint64_t>() + times * bytes;
      if (cluster)
        (*sum)["seconds"] = sum->value("seconds", 0.0) + double(times) * seconds;
    }
  }

  const Mesh &mesh;
  const planner::Cluster *cluster;
  int64_t rank = 0; ///< the rank whose step is added

  std::map<std::tuple<std::string, std::string, std::string>, size_t> numbers;
};

/// "0-3, 6"
std::string runsOf(const ordered_json &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last].get<int64_t>() + 1)
      ++last;
    text += (text.empty() ? "" : ", ") + ranks[i].dump();
    if (last > i)
      text += "-" + ranks[last].dump();
    i = last + 1;
  }
  return text;
}

/// The ranks that hold a tensor that no axis shards.
std::string everyRank(const ordered_json &facts) {
  return facts["pipeline"].is_null() ? "every rank" : "every rank of its stage";
}

void printShardedVariables(const ordered_json &facts, std::ostream &out) {
  out << "\nShardings of parameters and state (@AXIS: sharded over the axis; without @: replicated "
         "on "
      << everyRank(facts) << "):\n";
  Table variables({"name", "sharding", "bytes", "per rank", "at", "reason"},
                  {false, false, true, true, false, false});
  for (const ordered_json &row : facts["variables"]) {
    std::string layout;
    if (row["layout"].is_null())
      for (const ordered_json &size : row["shape"])
        layout += (layout.empty() ? "" : " ") + size.dump();
    else
      layout = row["layout"];
    variables.add(
        {row["name"], layout, grouped(row["bytes"]), grouped(row["most"]), row["at"], row["why"]});
  }
  variables.print(out);
}

void printValues(const ordered_json &facts, std::ostream &out) {
  out << "\nShardings in the forward pass of a microbatch (@AXIS: sharded over the axis; +AXIS: "
         "partial sum over\nthe axis; neither: computed whole by "
      << everyRank(facts) << "):\n";
  Table values({"at", "ops", "times", "sharding", "reason"}, {false, false, true, false, false});
  for (const ordered_json &row : facts["values"])
    values.add({row["at"], row["ops"], grouped(row["times"]), row["layout"], row["why"]});
  values.print(out);
}

void printExchanges(const ordered_json &facts, std::ostream &out) {
  if (facts["collectives"].empty()) {
    out << "\nA step has no communication\n";
    return;
  }
  bool hasStages = !facts["pipeline"].is_null();
  out << "\nCommunication in a step, and the bytes that "
      << (hasStages ? "the first ranks of all stages receive together" : "a rank receives")
      << ":\n";
  bool hasPrices = facts["collectives"][0].contains("seconds");
  std::vector<std::string> head = {"at", hasStages ? "operation" : "collective", "axis", "times",
                                   "bytes"};
  std::vector<bool> right = {false, false, false, true, true};
  if (hasPrices) {
    head.push_back("time");
    right.push_back(true);
  }
  Table exchanges(head, right);
  for (const ordered_json &row : facts["collectives"]) {
    std::vector<std::string> cells = {row["at"], row["kind"], row["axis"], grouped(row["times"]),
                                      grouped(row["bytes"])};
    if (hasPrices)
      cells.push_back(secondsText(row["seconds"]));
    exchanges.add(cells);
  }
  exchanges.print(out);
  for (const auto &[axis, total] : facts["totals"].items()) {
    out << "Total over " << axis << ": " << grouped(total["times"])
        << (axis == stageAxis ? " transfers, " : " collectives, ") << grouped(total["bytes"])
        << " bytes";
    if (hasPrices)
      out << ", " << secondsText(total["seconds"]) << " without overlap on "
          << facts["cluster"].get<std::string>();
    out << "\n";
  }
}

void printSharding(const ordered_json &facts, std::ostream &out) {
  out << facts["model"].get<std::string>() << " for " << facts["target"].get<std::string>()
      << " on " << facts["mesh"].get<std::string>();
  if (std::string hosts = facts["hosts"]; !hosts.empty())
    out << ", with its ranks on the devices of " << hosts;
  out << "\n\nMemory of each rank, in bytes:\n";
  Table memory({"ranks", "arena", "parameters and state"}, {false, true, true});
  for (const ordered_json &row : facts["ranks"])
    memory.add({runsOf(row["ranks"]), grouped(row["arena"]), grouped(row["persistent"])});
  memory.print(out);
  if (!facts["pipeline"].is_null())
    printPipeline(facts["pipeline"], out);
  printShardedVariables(facts, out);
  printValues(facts, out);
  printExchanges(facts, out);
}

} // namespace

ordered_json describeSharding(const artifact::Program &program, const planner::Cluster *cluster) {
  Mesh mesh = artifact::meshOf(program);
  Exchanges exchanges(mesh, cluster);
  for (int64_t rank : firstRanksOf(mesh))
    exchanges.addStep(artifact::programOf(program, rank), rank);
  ordered_json facts = {{"model", program.model()->str()},
                        {"target", artifact::deviceOf(program).target()->str()},
                        {"mesh", mesh.text()},
                        {"hosts", program.hosts() ? program.hosts()->str() : ""},
                        {"ranks", ranksOf(program, mesh)},
                        {"pipeline", describePipeline(program)},
                        {"variables", variablesOf(program, mesh)},
                        {"values", valuesOf(program)},
                        {"collectives", exchanges.rows},
                        {"totals", exchanges.totals}};
  if (cluster)
    facts["cluster"] = cluster->name;
  return facts;
}

void inspectSharding(const std::string &path, const std::string &described, bool json) {
  std::vector<std::byte> bytes = readUndamagedArtifact(path);
  const artifact::Program &program = artifact::verify(bytes);
  if (!program.mesh())
    throw Failure(Exit::usage, "--sharding: " + path +
                                   " is for one device: compile it with a --mesh of several ranks");
  std::optional<planner::Cluster> cluster;
  if (!described.empty()) {
    cluster = planner::readCluster(described);
    if (program.hosts())
      throw Failure(Exit::usage, concat("--cluster: ranks of ", path,
                                        " share devices (--deterministic), and the time of their "
                                        "communication cannot be predicted: remove --cluster"));
    const std::string target = artifact::deviceOf(program).target()->str(),
                      there = cluster->deviceOf(0).target;
    if (std::ranges::none_of(deviceKinds(), [&](const DeviceKind &kind) {
          return kind.name == there.substr(0, there.find(':')) && kind.serves(target);
        }))
      throw Failure(Exit::usage, concat("--cluster ", described, " has devices for ", there,
                                        ", but ", path, " is for ", target));
    if (int64_t ranks = artifact::meshOf(program).ranks(); ranks > cluster->devices())
      throw Failure(Exit::usage, concat("--cluster ", described, " has ", cluster->devices(),
                                        " devices, but ", path, " needs ", ranks, " ranks"));
  }
  ordered_json facts = describeSharding(program, cluster ? &*cluster : nullptr);
  printFacts(facts, json, printSharding);
}

} // namespace weir
