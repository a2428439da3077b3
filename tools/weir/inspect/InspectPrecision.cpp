//===- InspectPrecision.cpp - weir inspect --precision --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/InspectPrecision.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "support/Table.h"
#include "tools/weir/inspect/PrintFacts.h"
#include <algorithm>

using nlohmann::ordered_json;

namespace weir {

ordered_json describePrecision(const artifact::Program &program, const CastCounts &counts) {
  ordered_json choices = ordered_json::array();
  if (program.choices())
    for (const artifact::Choice *one : *program.choices()) {
      choices.push_back({{"at", artifact::placeOf(program, one->location())},
                         {"op", one->op()->str()},
                         {"times", one->times()},
                         {"computes", nameOf(artifact::elementOf(one->computes()))},
                         {"stores", nameOf(artifact::elementOf(one->stores()))},
                         {"why", one->why()->str()}});
    }
  return {{"model", program.model()->str()},
          {"precision", nameOf(artifact::precisionOf(program))},
          {"master", nameOf(artifact::elementOf(program.master()))},
          {"choices", choices},
          {"casts",
           {{"parameters", counts.parameters},
            {"beside", counts.beside},
            {"of_variables", counts.ofVariables},
            {"of_calls", counts.ofCalls},
            {"for_calls", counts.forCalls},
            {"spare", counts.spareAt}}}};
}

namespace {

struct Row {
  std::string at, computes, stores, why, ops;
};

/// A line's ops of the same types for the same reason are one row: "mul*4 add".
std::vector<Row> rowsOf(const ordered_json &choices) {
  std::vector<Row> rows;
  for (const ordered_json &one : choices) {
    uint64_t times = one["times"];
    std::string op = one["op"].get<std::string>() + (times > 1 ? "*" + std::to_string(times) : "");
    Row read{one["at"], one["computes"], one["stores"], one["why"], op};
    auto same = std::find_if(rows.begin(), rows.end(), [&](const Row &row) {
      return row.at == read.at && row.computes == read.computes && row.stores == read.stores &&
             row.why == read.why;
    });
    if (same == rows.end())
      rows.push_back(std::move(read));
    else
      same->ops += " " + op;
  }
  return rows;
}

} // namespace

/// The number of parameters that are cast, and those that are cast more than once.
static std::string castParameters(const ordered_json &parameters) {
  if (parameters.empty())
    return "no parameters";
  std::string often;
  for (const auto &[name, times] : parameters.items())
    if (times != 1)
      often += (often.empty() ? "" : ", ") + name + " " + times.dump() + " times";
  return std::to_string(parameters.size()) + " parameters, " +
         (often.empty() ? "each once" : "each once except " + often);
}

void printPrecision(const ordered_json &facts, std::ostream &out) {
  const ordered_json &choices = facts["choices"], &casts = facts["casts"];
  out << facts["model"].get<std::string>() << " in " << facts["precision"].get<std::string>();
  if (choices.empty()) {
    std::string master = facts["master"];
    out << ": all ops compute in f32, and all tensors are stored in f32"
        << (master == "f32" ? "" : ", except parameters and optimizer state, in " + master) << "\n";
    return;
  }
  out << ": types of a step, by line of the model. A kernel that computes in f32 and rounds the "
         "result stores only\nthe rounded one.\n";
  Table table({"at", "computes", "stores", "ops", "why"}, {false, false, false, false, false});
  std::string before;
  for (const Row &row : rowsOf(choices)) {
    table.add({row.at == before ? "" : row.at, row.computes, row.stores, row.ops, row.why});
    before = row.at;
  }
  table.print(out);

  uint64_t spare = 0;
  for (const auto &[at, times] : casts["spare"].items())
    spare += times.get<uint64_t>();
  out << "\nCasts in a step: " << castParameters(casts["parameters"]) << "; " << casts["beside"]
      << " fused into other kernels\n";
  out << "Kernels that only cast: " << casts["of_variables"] << " of parameters and inputs, "
      << casts["of_calls"] << " of results of library calls, " << casts["for_calls"]
      << " that widen inputs of library calls, " << spare << " that could be fused\n";
  for (const auto &[at, times] : casts["spare"].items())
    out << "  " << at << ": " << times << "\n";
}

void inspectPrecision(const std::vector<std::byte> &artifact, const CastCounts &counts, bool json) {
  ordered_json facts = describePrecision(artifact::verify(artifact), counts);
  printFacts(facts, json, printPrecision);
}

} // namespace weir
