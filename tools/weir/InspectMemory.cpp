//===- InspectMemory.cpp - weir inspect --memory ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/InspectMemory.h"
#include "runtime/artifact/Reader.h"
#include "runtime/base/Utf8.h"
#include "runtime/report/Table.h"
#include "tools/common/Files.h"
#include "tools/weir/Describe.h"
#include "tools/weir/Numbers.h"
#include <iostream>
#include <sstream>

using nlohmann::ordered_json;

namespace weir {
namespace {

std::string placeOf(const artifact::Program &program, const artifact::Location *at) {
  if (!at || at->line() == 0)
    return "";
  return program.files()->Get(at->file())->str() + ":" + std::to_string(at->line());
}

uint64_t bytesOf(const artifact::Kept &kept) { return kept.bytes() * kept.times(); }

void addTensors(const artifact::Program &program, uint64_t scratch, ordered_json &facts) {
  const artifact::Keeping &keeping = *program.keeping();
  auto shareOf = [&](const artifact::Kept &kept) {
    return keeping.seconds() > 0 ? kept.seconds() / keeping.seconds() : 0;
  };
  ordered_json kept = ordered_json::array(), again = ordered_json::array();
  uint64_t allKept = 0, fixed = 0, allAgain = 0;
  double share = 0;
  for (const artifact::Kept *one : *keeping.tensors()) {
    bool isFixed = !one->again() && one->why()->size() > 0;
    ordered_json row = {{"at", placeOf(program, one->location())},
                        {"what", one->what()->str()},
                        {"bytes", one->bytes()},
                        {"times", one->times()},
                        {"share", isFixed ? ordered_json() : ordered_json(shareOf(*one))},
                        {"why", one->why()->str()}};
    if (one->again()) {
      allAgain += bytesOf(*one);
      share += shareOf(*one) * double(one->times());
      again.push_back(std::move(row));
    } else {
      allKept += bytesOf(*one);
      fixed += isFixed ? bytesOf(*one) : 0;
      kept.push_back(std::move(row));
    }
  }
  facts["kept"] = kept;
  facts["again"] = again;
  facts["totals"] = {{"kept", allKept},
                     {"fixed", fixed},
                     {"again", allAgain},
                     {"share", share},
                     {"scratch_if_kept", keeping.scratch()},
                     {"gained", int64_t(keeping.scratch()) - int64_t(scratch)}};
}

std::string percent(const ordered_json &share) { return fixed(100 * share.get<double>(), 2) + "%"; }

uint64_t bytesOf(const ordered_json &row) {
  return row["bytes"].get<uint64_t>() * row["times"].get<uint64_t>();
}

void print(const Table &table, std::ostream &out) {
  for (const std::string &line : table.lines())
    out << line << "\n";
}

void printKept(const ordered_json &facts, std::ostream &out) {
  out << "\nKept from the forward computation for its gradients, and the time to compute each "
         "again instead:\n";
  Table table({"bytes", "each", "times", "time each", "what", "at", "cannot be given up"},
              {true, true, true, true, false, false, false});
  for (const ordered_json &row : facts["kept"])
    table.add({grouped(bytesOf(row)), grouped(row["bytes"]), grouped(row["times"]),
               row["share"].is_null() ? "-" : percent(row["share"]), row["what"], row["at"],
               row["share"].is_null() ? row["why"] : ordered_json("")});
  print(table, out);
  const ordered_json &totals = facts["totals"];
  out << "Together " << grouped(totals["kept"]) << " bytes, of which " << grouped(totals["fixed"])
      << " cannot be given up\n";
}

void printAgain(const ordered_json &facts, std::ostream &out) {
  if (facts["again"].empty()) {
    out << "\nNothing is computed twice\n";
    return;
  }
  out << "\nComputed again rather than kept:\n";
  Table table({"bytes", "each", "times", "time each", "what", "at", "why"},
              {true, true, true, true, false, false, false});
  for (const ordered_json &row : facts["again"])
    table.add({grouped(bytesOf(row)), grouped(row["bytes"]), grouped(row["times"]),
               percent(row["share"]), row["what"], row["at"], row["why"]});
  print(table, out);
  const ordered_json &totals = facts["totals"];
  int64_t gained = totals["gained"];
  out << "Together " << grouped(totals["again"]) << " bytes for " << percent(totals["share"])
      << " more time: the step takes " << grouped(facts["scratch"]) << " bytes instead of "
      << grouped(totals["scratch_if_kept"]) << ", " << grouped(uint64_t(std::abs(gained)))
      << (gained < 0 ? " more\n" : " less\n");
}

void printMemory(const ordered_json &facts, std::ostream &out) {
  out << facts["model"].get<std::string>() << " for " << facts["target"].get<std::string>()
      << ": one arena of " << grouped(facts["arena"]) << " bytes, " << grouped(facts["persistent"])
      << " of them parameters and state; a step takes " << grouped(facts["scratch"])
      << " besides\n";
  if (facts["kept"].is_null()) {
    out << "\nThis artifact does not say what its step keeps: compile it again\n";
    return;
  }
  printKept(facts, out);
  printAgain(facts, out);
  out << "\ntime: of a step's in which nothing is computed again, an estimate by floating-point "
         "operations and bytes. What is\nkept is there for what is computed again; giving up "
         "several may take more than each alone.\n";
}

} // namespace

ordered_json describeMemory(const artifact::Program &program) {
  ordered_json all = describe(program), facts;
  const ordered_json &memory = all["memory"];
  uint64_t scratch = 0;
  for (const ordered_json &entry : memory["entries"])
    if (entry["entry"] == "step")
      scratch = entry["scratch"];
  facts = {{"model", all["model"]},    {"target", all["target"]},
           {"arena", memory["arena"]}, {"persistent", memory["persistent"]},
           {"scratch", scratch},       {"kept", nullptr},
           {"again", nullptr},         {"totals", nullptr}};
  if (program.keeping())
    addTensors(program, scratch, facts);
  return facts;
}

void inspectMemory(const std::string &path, bool json) {
  std::vector<std::byte> bytes = readArtifact(path);
  ordered_json facts = describeMemory(artifact::verify(bytes));
  if (json) {
    std::cout << facts.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  std::ostringstream text;
  printMemory(facts, text);
  std::cout << printable(text.str());
}

} // namespace weir
