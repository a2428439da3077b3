//===- InspectMemory.cpp - weir inspect --memory ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/InspectMemory.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "support/Table.h"
#include "support/mesh/Stages.h"
#include "tools/common/Files.h"
#include "tools/weir/Numbers.h"
#include "tools/weir/inspect/Describe.h"
#include "tools/weir/inspect/InspectPipeline.h"
#include "tools/weir/inspect/PrintFacts.h"
#include <map>

using nlohmann::ordered_json;

namespace weir {
namespace {

constexpr std::pair<artifact::Fate, const char *> fates[] = {{artifact::Fate::kept, "kept"},
                                                             {artifact::Fate::again, "again"},
                                                             {artifact::Fate::away, "away"}};

uint64_t bytesOf(const artifact::Kept &kept) { return kept.bytes() * kept.times(); }

void addTensors(const artifact::Program &program, uint64_t scratch, ordered_json &facts) {
  const artifact::Keeping &keeping = *program.keeping();
  auto shareOf = [&](const artifact::Kept &kept) {
    return keeping.seconds() > 0 ? kept.seconds() / keeping.seconds() : 0;
  };
  std::map<artifact::Fate, ordered_json> rows;
  std::map<artifact::Fate, uint64_t> bytes;
  uint64_t fixed = 0;
  double share = 0;
  for (const artifact::Kept *one : *keeping.tensors()) {
    bool isKept = one->fate() == artifact::Fate::kept;
    bool isFixed = isKept && one->why()->size() > 0;
    ordered_json row = {{"at", artifact::placeOf(program, one->location())},
                        {"what", one->what()->str()},
                        {"bytes", one->bytes()},
                        {"times", one->times()},
                        {"share", isFixed ? ordered_json() : ordered_json(shareOf(*one))},
                        {"why", one->why()->str()}};
    bytes[one->fate()] += bytesOf(*one);
    fixed += isFixed ? bytesOf(*one) : 0;
    if (!isKept)
      share += shareOf(*one) * double(one->times());
    rows[one->fate()].push_back(std::move(row));
  }
  for (auto [fate, name] : fates)
    facts[name] = rows.contains(fate) ? rows[fate] : ordered_json::array();
  facts["totals"] = {
      {"kept", bytes[artifact::Fate::kept]},
      {"fixed", fixed},
      {"again", bytes[artifact::Fate::again]},
      {"away", bytes[artifact::Fate::away]},
      {"share", share},
      {"scratch_if_kept", keeping.scratch()},
      {"least_in_any_order", keeping.least() ? ordered_json(keeping.least()) : ordered_json()},
      {"gained", int64_t(keeping.scratch()) - int64_t(scratch)}};
}

uint64_t bytesOf(const ordered_json &row) {
  return row["bytes"].get<uint64_t>() * row["times"].get<uint64_t>();
}

void printKept(const ordered_json &facts, std::ostream &out) {
  out << "\nSaved activations, and the time to recompute each instead:\n";
  Table table({"bytes", "each", "times", "time each", "what", "at", "cannot be recomputed"},
              {true, true, true, true, false, false, false});
  for (const ordered_json &row : facts["kept"])
    table.add({grouped(bytesOf(row)), grouped(row["bytes"]), grouped(row["times"]),
               row["share"].is_null() ? "-" : percent(row["share"], 2), row["what"], row["at"],
               row["share"].is_null() ? row["why"] : ordered_json("")});
  table.print(out);
  const ordered_json &totals = facts["totals"];
  out << "Total: " << grouped(totals["kept"]) << " bytes, of which " << grouped(totals["fixed"])
      << " cannot be recomputed\n";
}

void printReleased(const ordered_json &rows, const char *title, std::ostream &out) {
  if (rows.empty())
    return;
  out << "\n" << title << ":\n";
  Table table({"bytes", "each", "times", "time each", "what", "at", "why"},
              {true, true, true, true, false, false, false});
  for (const ordered_json &row : rows)
    table.add({grouped(bytesOf(row)), grouped(row["bytes"]), grouped(row["times"]),
               percent(row["share"], 2), row["what"], row["at"], row["why"]});
  table.print(out);
}

void printReleased(const ordered_json &facts, std::ostream &out) {
  if (facts["again"].empty())
    out << "\nNo activation is recomputed\n";
  printReleased(facts["again"], "Recomputed activations, and the time to recompute each", out);
  printReleased(facts["away"], "Activations offloaded to the host, and the time to transfer each",
                out);
  if (facts["again"].empty() && facts["away"].empty())
    return;
  const ordered_json &totals = facts["totals"];
  int64_t gained = totals["gained"];
  uint64_t released = totals["again"].get<uint64_t>() + totals["away"].get<uint64_t>();
  out << "Total: " << grouped(released) << " bytes for " << percent(totals["share"], 2)
      << " more time: the step takes " << grouped(facts["scratch"]) << " bytes instead of "
      << grouped(totals["scratch_if_kept"]) << ", " << grouped(uint64_t(std::abs(gained)))
      << (gained < 0 ? " more\n" : " less\n");
}

void printHead(const ordered_json &facts, std::ostream &out) {
  out << facts["model"].get<std::string>() << " for " << facts["target"].get<std::string>() << ": ";
  if (!facts["stages"].is_null()) {
    out << "memory of the first rank of each pipeline stage, in bytes:\n";
    Table table({"rank", "arena", "parameters and state", "scratch of a step"},
                {false, true, true, true});
    for (const ordered_json &row : facts["stages"])
      table.add({row["rank"].dump(), grouped(row["arena"]), grouped(row["persistent"]),
                 grouped(row["scratch"])});
    table.print(out);
    return;
  }
  out << "one arena of " << grouped(facts["arena"]) << " bytes, of which parameters and state take "
      << grouped(facts["persistent"]) << " and the scratch memory of a step "
      << grouped(facts["scratch"]) << "\n";
}

/// Says why the artifact lists no saved activations.
void printUnknown(const ordered_json &facts, std::ostream &out) {
  if (facts["stages"].is_null())
    out << "\nThis artifact does not list its saved activations: compile it again\n";
  else
    out << "\nThe saved activations of pipeline stages are not listed: for each microbatch in "
           "flight, a stage saves\nwhat its backward pass reads. `weir inspect` lists the buffers "
           "that are alive at the peak of the\nfirst rank.\n";
}

void printMemoryFacts(const ordered_json &facts, std::ostream &out) {
  printHead(facts, out);
  if (facts["kept"].is_null()) {
    printUnknown(facts, out);
    return;
  }
  printKept(facts, out);
  printReleased(facts, out);
  if (const ordered_json &least = facts["totals"]["least_in_any_order"]; !least.is_null())
    out << "With the best order of its kernels, the step would still take at least "
        << grouped(least) << " bytes\n";
  out << "\ntime: estimated from FLOPs and bytes, as a share of a step that saves all activations. "
         "The time to\nrecompute an activation assumes that all other activations are saved: "
         "recomputing several may take\nlonger than the sum of their times.\n";
}

/// The arena, the persistent part of it and the scratch of the step, from the facts of describe().
ordered_json takenBy(const ordered_json &all) {
  const ordered_json &memory = all["memory"];
  uint64_t scratch = 0;
  for (const ordered_json &entry : memory["entries"])
    if (entry["entry"] == "step")
      scratch = entry["scratch"];
  return {{"arena", memory["arena"]}, {"persistent", memory["persistent"]}, {"scratch", scratch}};
}

ordered_json stagesTaking(const artifact::Program &program) {
  Mesh mesh = artifact::meshOf(program);
  if (stagesOf(mesh) == 1)
    return nullptr;
  ordered_json stages = ordered_json::array();
  for (int64_t rank : firstRanksOf(mesh)) {
    ordered_json row = {{"rank", rank}};
    row.update(takenBy(describe(artifact::programOf(program, rank))));
    stages.push_back(std::move(row));
  }
  return stages;
}

} // namespace

ordered_json describeMemory(const artifact::Program &program) {
  ordered_json all = describe(program);
  ordered_json facts = {{"model", all["model"]}, {"target", all["target"]}};
  facts.update(takenBy(all));
  facts["stages"] = stagesTaking(program);
  for (const char *unknown : {"kept", "again", "away", "totals"})
    facts[unknown] = nullptr;
  if (program.keeping())
    addTensors(program, facts["scratch"], facts);
  return facts;
}

void inspectMemory(const std::string &path, bool json) {
  std::vector<std::byte> bytes = readUndamagedArtifact(path);
  ordered_json facts = describeMemory(artifact::verify(bytes));
  printFacts(facts, json, printMemoryFacts);
}

} // namespace weir
