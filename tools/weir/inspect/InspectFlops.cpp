//===- InspectFlops.cpp - FLOPs and bytes in weir inspect -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/InspectFlops.h"
#include "artifact/Flops.h"
#include "artifact/Reader.h"
#include "support/Number.h"
#include "support/Table.h"
#include "support/Text.h"
#include "tools/common/Files.h"
#include "tools/weir/inspect/PrintFacts.h"
#include <algorithm>
#include <cmath>

using nlohmann::ordered_json;

namespace weir {
namespace {

void addWork(ordered_json &to, const ordered_json &model, const artifact::Executed &executed) {
  to["model_flops"] = model;
  to["executed_flops"] = executed.known ? ordered_json(executed.products) : ordered_json();
  to["all_flops"] = executed.flops;
  to["bytes"] = executed.bytes;
  to["copied_bytes"] = executed.copied;
}

std::string placeOf(const artifact::Program &program, artifact::ModelLine at) {
  auto [file, line] = at;
  return line ? concat(program.files()->Get(file)->str(), ":", line) : "";
}

/// An integer where JSON's 64 bits hold it, else a float.
ordered_json count(double flops) {
  bool fits = flops < 0x1p64 && flops == std::floor(flops);
  return fits ? ordered_json(static_cast<uint64_t>(flops)) : ordered_json(flops);
}

ordered_json describeEntry(const artifact::Program &program, const artifact::Entry &entry) {
  ordered_json facts = {{"entry", entry.name()->str()}}, lines = ordered_json::array();
  bool known = entry.model_flops().has_value();
  addWork(facts, known ? count(*entry.model_flops()) : ordered_json(),
          artifact::executedBy(program, entry));
  const ordered_json &model = facts["model_flops"], &executed = facts["executed_flops"];
  facts["executed_over_model"] = known && model > 0 && !executed.is_null()
                                     ? ordered_json(executed.get<double>() / model.get<double>())
                                     : ordered_json();
  for (const auto &[at, work] : artifact::workByLine(program, entry)) {
    ordered_json line = {{"at", placeOf(program, at)}};
    addWork(line, known ? count(work.model) : ordered_json(), work.executed);
    lines.push_back(std::move(line));
  }
  facts["lines"] = std::move(lines);
  return facts;
}

std::string millions(const ordered_json &amount) {
  return amount.is_null() ? "-" : formatted("%.3f", amount.get<double>() / 1e6);
}

/// "1.125", and "-" where there is nothing to compare with.
std::string ratio(const ordered_json &executed, const ordered_json &model) {
  if (executed.is_null() || model.is_null() || model == 0)
    return "-";
  return formatted("%.3f", executed.get<double>() / model.get<double>());
}

class WorkTable {
public:
  explicit WorkTable(const char *first)
      : table({first, "model MFLOP", "executed MFLOP", "executed / model", "all MFLOP", "MB",
               "copied MB"},
              {false, true, true, true, true, true, true}) {}

  void add(const std::string &name, const ordered_json &work) {
    table.add({name, millions(work["model_flops"]), millions(work["executed_flops"]),
               ratio(work["executed_flops"], work["model_flops"]), millions(work["all_flops"]),
               millions(work["bytes"]), millions(work["copied_bytes"])});
  }

  void print(std::ostream &out) { table.print(out); }

private:
  Table table;
};

} // namespace

ordered_json describeFlops(const artifact::Program &program) {
  ordered_json entries = ordered_json::array();
  for (const artifact::Entry *entry : *program.entries())
    entries.push_back(describeEntry(program, *entry));
  return entries;
}

void printFlops(const ordered_json &entries, std::ostream &out) {
  out << "FLOPs of one run of each entry (model, executed: products, convolutions and attention; "
         "all: every op)\n";
  WorkTable table("entry");
  for (const ordered_json &entry : entries)
    table.add(entry["entry"], entry);
  table.print(out);
  out << "\n";
}

void printFlopsByLine(const ordered_json &entries, std::ostream &out) {
  for (const ordered_json &entry : entries) {
    std::vector<const ordered_json *> lines;
    for (const ordered_json &line : entry["lines"])
      lines.push_back(&line);
    if (lines.empty())
      continue;
    std::stable_sort(lines.begin(), lines.end(), [](auto *a, auto *b) {
      auto key = [](const ordered_json &line) {
        const ordered_json &executed = line["executed_flops"];
        return std::pair(executed.is_null() ? 0 : executed.template get<uint64_t>(),
                         line["all_flops"].template get<uint64_t>());
      };
      return key(*a) > key(*b);
    });
    out << "One run of " << entry["entry"].get<std::string>() << ":\n";
    WorkTable table("at");
    for (const ordered_json *line : lines)
      table.add((*line)["at"] == "" ? "no line" : (*line)["at"], *line);
    table.add("all", entry);
    table.print(out);
    out << "\n";
  }
}

void inspectLines(const std::string &path, bool json) {
  std::vector<std::byte> bytes = readUndamagedArtifact(path);
  ordered_json entries = describeFlops(artifact::verify(bytes));
  printFacts(entries, json, printFlopsByLine);
}

} // namespace weir
