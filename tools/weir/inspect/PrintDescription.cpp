//===- PrintDescription.cpp - The text of weir inspect --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Lines.h"
#include "support/Table.h"
#include "support/Text.h"
#include "support/mesh/MachineRates.h"
#include "tools/weir/Numbers.h"
#include "tools/weir/inspect/Describe.h"
#include "tools/weir/inspect/Inspect.h"
#include "tools/weir/inspect/InspectFlops.h"
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

using nlohmann::ordered_json;

namespace weir {
namespace {

std::string mega(uint64_t value) { return fixed(value / 1e6, value < 10'000'000 ? 3 : 1); }

std::string dims(const ordered_json &shape, const char *between = " x ") {
  std::string result;
  for (const ordered_json &n : shape)
    result += (result.empty() ? "" : between) + std::to_string(n.get<int64_t>());
  return result.empty() ? "scalar" : result;
}

/// Each op once, with its count, in order of first appearance. Constants appear only if there is
/// nothing else.
std::string opCounts(const ordered_json &ops) {
  std::vector<std::pair<std::string, unsigned>> counts;
  for (const ordered_json &op : ops) {
    auto known =
        std::find_if(counts.begin(), counts.end(), [&](auto &count) { return op == count.first; });
    if (known == counts.end())
      counts.emplace_back(op, 1);
    else
      ++known->second;
  }
  if (counts.size() > 1)
    std::erase_if(counts, [](auto &count) { return count.first == "constant"; });
  std::string result;
  for (auto &[op, count] : counts)
    result += (result.empty() ? "" : " ") + op + (count > 1 ? "*" + std::to_string(count) : "");
  return result;
}

/// Variables that differ only in the numbers of their paths, such as those of repeated layers.
struct Folded {
  std::string name; ///< h.[0-3].ln_1.weight
  ordered_json first;
  unsigned times = 0;
  std::vector<std::vector<uint64_t>> numbers; ///< per number in the path, in order of appearance
};

/// 0, 1, 2, 5 as "[0-2,5]"; one number as itself.
std::string rangeText(std::vector<uint64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() == 1)
    return std::to_string(numbers.front());
  std::string result;
  for (size_t i = 0, end; i < numbers.size(); i = end) {
    for (end = i + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1; ++end) {
    }
    result += (result.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end - i > 1)
      result += "-" + std::to_string(numbers[end - 1]);
  }
  return "[" + result + "]";
}

bool isNumber(const std::string &part) {
  return !part.empty() && part.size() < 10 &&
         std::all_of(part.begin(), part.end(), [](char c) { return '0' <= c && c <= '9'; });
}

std::vector<Folded> foldLayers(const std::vector<ordered_json> &variables) {
  std::vector<Folded> folded;
  std::map<std::string, size_t> places; // what has to be equal -> in `folded`
  for (const ordered_json &variable : variables) {
    std::vector<uint64_t> numbers;
    ordered_json key = variable;
    key["name"] = ordered_json::array();
    for (const std::string &part : split(variable["name"].get<std::string>(), '.')) {
      if (isNumber(part))
        numbers.push_back(std::stoull(part));
      key["name"].push_back(isNumber(part) ? "" : part);
    }
    auto [place, isNew] = places.try_emplace(
        key.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), folded.size());
    if (isNew)
      folded.push_back({"", variable, 0, std::vector<std::vector<uint64_t>>(numbers.size())});
    Folded &fold = folded[place->second];
    ++fold.times;
    for (size_t i = 0; i < numbers.size(); ++i)
      fold.numbers[i].push_back(numbers[i]);
  }
  for (Folded &fold : folded) {
    auto numbers = fold.numbers.begin();
    for (const std::string &part : split(fold.first["name"].get<std::string>(), '.'))
      fold.name += (fold.name.empty() ? "" : ".") + (isNumber(part) ? rangeText(*numbers++) : part);
  }
  return folded;
}

struct Total {
  uint64_t tensors = 0, values = 0, bytes = 0;
};

uint64_t valuesOf(const ordered_json &variable) {
  uint64_t values = 1;
  for (const ordered_json &n : variable["shape"])
    values *= n.get<uint64_t>();
  return values;
}

Total totalOf(const ordered_json &variables, const char *role) {
  Total total;
  for (const ordered_json &v : variables)
    if (v["role"] == role) {
      total.tensors += 1;
      total.values += valuesOf(v);
      total.bytes += v["bytes"].get<uint64_t>();
    }
  return total;
}

double shareOf(std::initializer_list<const ordered_json *> lists) {
  double share = 0;
  for (const ordered_json *list : lists)
    for (const ordered_json &call : *list)
      share += call["share"].get<double>();
  return share;
}

/// Sorted by share of a step's cost; those of other entries come last, in their order.
std::vector<const ordered_json *> byShare(const ordered_json &calls) {
  std::vector<const ordered_json *> sorted;
  for (const ordered_json &call : calls)
    sorted.push_back(&call);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto *a, auto *b) {
    return (*a)["share"].template get<double>() > (*b)["share"].template get<double>();
  });
  return sorted;
}

std::string shareText(const ordered_json &call) {
  double share = call["share"];
  return share > 0 ? percent(share, 1) : "-";
}

/// ", deterministic on dp=2,tp=2", or ""
std::string whereRanksAre(const ordered_json &facts) {
  std::string hosts = facts["hosts"];
  return hosts.empty() ? "" : ", deterministic on " + hosts;
}

/// "dp=4 (61,440 bytes of code, 1,234 of memory), dp=2 (...)"
std::string meshesText(const ordered_json &meshes) {
  std::string text;
  for (const ordered_json &mesh : meshes) {
    std::string code =
        mesh["code"] > 0 ? grouped(mesh["code"]) + " bytes of code" : "code of the first";
    text += (text.empty() ? "" : ", ") +
            (mesh["processes"] == 1 ? "one device" : mesh["mesh"].get<std::string>()) + " (" +
            code + ", " + grouped(mesh["arena"]) + " of memory)";
  }
  return text;
}

/// A summary of eight lines, and one more on a mesh.
void printSummary(const ordered_json &facts, std::ostream &out) {
  auto line = [&](const char *name, const std::string &text) {
    out << name << std::string(12 - std::string_view(name).size(), ' ') << text << "\n";
  };
  std::string precision = facts["precision"];
  precision = precision == "f32" ? "" : " in " + precision;
  if (std::string master = facts["master"]; master != "f32")
    precision += ", parameters in " + master;
  if (std::string scale = facts["loss_scale"]; scale != "none")
    precision += ", loss scale " + scale;
  line("Model", facts["model"].get<std::string>() + " for " + facts["target"].get<std::string>() +
                    precision + "; an artifact is machine code: run only artifacts that you trust");
  if (std::string mesh = facts["mesh"]; !mesh.empty())
    line("Ranks", mesh + whereRanksAre(facts) +
                      "; bytes, kernels and times below are those of the first rank");
  if (const ordered_json &meshes = facts["meshes"]; meshes.size() > 1)
    line("Meshes", meshesText(meshes) + "; a run uses the mesh with as many ranks as it has "
                                        "processes, or the first, which the lines below describe");
  std::string configs;
  for (const auto &[name, value] : facts["configs"].items())
    configs += (configs.empty() ? "" : ", ") + name + " = " + value.get<std::string>();
  line("Configs", configs.empty() ? "none" : configs);

  uint64_t rows = facts["batch"], accumulate = facts["accumulate"];
  bool steps = facts["steps"] != 0;
  line("Training", grouped(facts[steps ? "steps" : "epochs"]) + (steps ? " steps" : " epochs") +
                       " of " + grouped(rows * accumulate) + " rows" +
                       (accumulate > 1 ? ", in " + grouped(accumulate) + " microbatches" : ""));

  const ordered_json &variables = facts["variables"];
  Total parameters = totalOf(variables, "parameter");
  line("Parameters", grouped(parameters.values) + " values in " + grouped(parameters.tensors) +
                         (parameters.tensors == 1 ? " tensor, " : " tensors, ") +
                         grouped(parameters.bytes) + " bytes; block state " +
                         grouped(totalOf(variables, "state").bytes) + ", optimizer state " +
                         grouped(totalOf(variables, "optimizer").bytes));

  const ordered_json &memory = facts["memory"];
  uint64_t arena = memory["arena"], persistent = memory["persistent"];
  line("Memory",
       grouped(arena) + " bytes at the peak: " + grouped(persistent) + " persistent and " +
           grouped(arena - persistent) + " scratch; in addition " +
           (memory["pinned"] > 0 ? grouped(memory["pinned"]) + " pinned on the host"
                                 : grouped(memory["thread_scratch"]) + " per thread, " +
                                       grouped(memory["batches"]) + " for batches") +
           (memory["host"] > 0 ? "; " + grouped(memory["host"]) + " offloaded to the host" : ""));

  const ordered_json &step = facts["step"];
  std::string again =
      step["recomputed_flops"] > 0 ? " (" + mega(step["recomputed_flops"]) + " recomputed)" : "";
  line("A step", mega(step["flops"]) + " MFLOP" + again + ", " + mega(step["bytes"]) +
                     " MB read and written");
  line("Kernels",
       std::to_string(facts["kernels"].size()) + " compiled, " + grouped(step["launches"]) +
           " launches a step: " + percent(shareOf({&facts["kernels"]}), 1) + " of its cost");
  line("Calls", grouped(step["calls"]) + " library calls a step: " +
                    percent(shareOf({&facts["calls"]}), 1) + " of its cost");
  out << "\n";
}

void printStrategy(const ordered_json &strategy, std::ostream &out) {
  if (strategy.is_null())
    return;
  out << "Strategy: the fields that the compile set (see `weir help strategy`)\n";
  Table table({"field", "value", "meaning"}, {false, false, false});
  for (const ordered_json &one : strategy)
    table.add({one["field"], one["value"], one["help"]});
  table.print(out);
  out << "\n";
}

void printVariables(const ordered_json &facts, std::ostream &out) {
  std::vector<ordered_json> shown;
  for (const ordered_json &v : facts["variables"])
    if (v["role"] == "parameter" || v["role"] == "state")
      shown.push_back(v);
  if (shown.empty())
    return;
  out << "Parameters and state:\n";
  Table table({"name", "role", "type", "shape", "bytes each", "times", "at"},
              {false, false, false, false, true, true, false});
  for (const Folded &v : foldLayers(shown))
    table.add({v.name, v.first["role"], v.first["type"], dims(v.first["shape"]),
               grouped(v.first["bytes"]), std::to_string(v.times), v.first["at"]});
  table.print(out);
  out << "\n";
}

void printMemory(const ordered_json &memory, std::ostream &out) {
  out << "Memory: one arena of " << grouped(memory["arena"]) << " bytes\n";
  Table entries({"entry", "scratch", "most alive", "scratch / alive"}, {false, true, true, true});
  const ordered_json *largest = nullptr;
  for (const ordered_json &entry : memory["entries"]) {
    uint64_t scratch = entry["scratch"], live = entry["largest_live"];
    entries.add({entry["entry"], grouped(scratch), grouped(live),
                 live ? fixed(static_cast<double>(scratch) / live, 3) : "-"});
    if (!largest || live > (*largest)["largest_live"].get<uint64_t>())
      largest = &entry;
  }
  entries.print(out);
  if (!largest || (*largest)["peak"].empty()) {
    out << "\n";
    return;
  }
  out << "Alive at the peak (" << (*largest)["entry"].get<std::string>() << ", action "
      << (*largest)["peak_action"] << "):\n";
  // A model's layers repeat: what is equal is one line.
  std::vector<std::pair<ordered_json, unsigned>> counts;
  for (const ordered_json &buffer : (*largest)["peak"]) {
    auto known = std::find_if(counts.begin(), counts.end(),
                              [&](auto &count) { return count.first == buffer; });
    if (known == counts.end())
      counts.emplace_back(buffer, 1);
    else
      ++known->second;
  }
  Table alive({"bytes each", "times", "what", "at"}, {true, true, false, false});
  for (auto &[buffer, count] : counts)
    alive.add({grouped(buffer["bytes"]), std::to_string(count), buffer["label"], buffer["at"]});
  alive.print(out);
  out << "\n";
}

void printKernels(const ordered_json &kernels, std::ostream &out) {
  if (kernels.empty())
    return;
  out << "Kernels (FLOPs and bytes per launch):\n";
  // Of kernels for GPUs, whose function's name begins with the shape.
  bool threads = kernels[0].contains("threads"), registers = kernels[0].contains("registers");
  std::vector<std::string> head = {"share", "symbol", threads ? "function" : "shape", "tasks"};
  if (threads)
    head.push_back("threads");
  if (registers)
    head.push_back("registers");
  for (const char *name : {"per step", "kFLOP", "kB", "ops", "at"})
    head.push_back(name);
  std::vector<bool> right(head.size(), true);
  right[1] = right[2] = right[head.size() - 2] = right[head.size() - 1] = false;
  Table table(head, right);
  for (const ordered_json *k : byShare(kernels)) {
    const ordered_json &kernel = *k;
    std::string times = std::to_string(kernel["launches"].value("step", uint64_t(0)));
    std::vector<std::string> row = {shareText(kernel), kernel["symbol"],
                                    kernel[threads ? "function" : "shape"],
                                    std::to_string(kernel["tasks"].get<uint64_t>())};
    if (threads)
      row.push_back(std::to_string(kernel["threads"].get<uint64_t>()));
    if (registers)
      row.push_back(std::to_string(kernel.value("registers", 0)));
    row.insert(row.end(), {times, fixed(kernel["flops"].get<uint64_t>() / 1e3, 1),
                           fixed(kernel["bytes"].get<uint64_t>() / 1e3, 1), opCounts(kernel["ops"]),
                           linesText(kernel["at"])});
    table.add(row);
  }
  table.print(out);
  out << "\n";
}

void printCalls(const ordered_json &calls, std::ostream &out) {
  if (calls.empty())
    return;
  out << "Library calls (FLOPs and bytes per call):\n";
  Table table({"share", "entry", "times", "MFLOP", "kB", "what", "at"},
              {true, false, true, true, true, false, false});
  for (const ordered_json *call : byShare(calls)) {
    const ordered_json &c = *call;
    table.add({shareText(c), c["entry"], std::to_string(c["times"].get<uint64_t>()),
               mega(c["flops"]), fixed(c["bytes"].get<uint64_t>() / 1e3, 1), c["what"],
               linesText(c["at"])});
  }
  table.print(out);
  out << "\n";
}

} // namespace

void printDescription(const ordered_json &facts, std::ostream &out) {
  printSummary(facts, out);
  printStrategy(facts["strategy"], out);
  printFlops(facts["flops"], out);
  printKernels(facts["kernels"], out);
  printCalls(facts["calls"], out);
  out << "share: of the cost of a step. The cost of a launch or call is the larger of its FLOPs "
         "and "
      << machines::flopsPerByteOfCore << " x its bytes\n\n";
  printVariables(facts, out);
  printMemory(facts["memory"], out);
}

} // namespace weir
