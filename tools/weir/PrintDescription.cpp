//===- PrintDescription.cpp - The text of weir inspect --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/Inspect.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

using nlohmann::ordered_json;

namespace weir {
namespace {

/// 1234567 as "1,234,567": sizes are compared by eye.
std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, 1, ',');
  return digits;
}

std::string fixed(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  return buffer;
}

std::string mega(uint64_t value) { return fixed(value / 1e6, value < 10'000'000 ? 3 : 1); }

std::string dims(const ordered_json &shape, const char *between = " x ") {
  std::string result;
  for (const ordered_json &n : shape)
    result += (result.empty() ? "" : between) + std::to_string(n.get<int64_t>());
  return result.empty() ? "scalar" : result;
}

/// Each op once, in the order of first appearance, with how often; constants only where there is
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

/// "a.weir:3", "a.weir:7", "b.weir:1" as "a.weir:3,7 b.weir:1".
std::string lines(const ordered_json &places) {
  std::string result, last;
  for (const ordered_json &place : places) {
    std::string at = place;
    size_t colon = at.rfind(':');
    std::string file = at.substr(0, colon);
    result += file == last ? "," + at.substr(colon + 1) : (result.empty() ? "" : " ") + at;
    last = file;
  }
  return result;
}

/// Columns as wide as their widest cell; numbers (columns named in `right`) end together.
class Table {
public:
  explicit Table(std::vector<std::string> head, std::vector<bool> right)
      : rows{std::move(head)}, right(std::move(right)) {}

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  void print(std::ostream &out) const {
    std::vector<size_t> widths(right.size());
    for (const auto &row : rows)
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    for (const auto &row : rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        std::string pad(widths[i] - row[i].size(), ' ');
        line += "  " + (right[i] ? pad + row[i] : row[i] + pad);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << "\n";
    }
  }

private:
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> right;
};

void printHead(const ordered_json &facts, std::ostream &out) {
  out << facts["model"].get<std::string>() << " for " << facts["target"].get<std::string>() << "\n"
      << "This artifact contains machine code: running it is running a program.\n\n";
  if (!facts["configs"].empty()) {
    out << "Configs:";
    for (const auto &[name, value] : facts["configs"].items())
      out << " " << name << " = " << value.get<std::string>() << ";";
    out << "\n";
  }
  out << "Recipe: " << facts["batch"] << " rows a microbatch, " << facts["accumulate"]
      << " a step, ";
  bool steps = facts["steps"] != 0;
  out << facts[steps ? "steps" : "epochs"] << (steps ? " steps" : " epochs") << "\n\n";
}

void printVariables(const ordered_json &facts, std::ostream &out) {
  struct Total {
    uint64_t tensors = 0, values = 0, bytes = 0;
  };
  std::map<std::string, Total> totals;
  Table table({"name", "role", "type", "shape", "bytes", "at"},
              {false, false, false, false, true, false});
  for (const ordered_json &v : facts["variables"]) {
    Total &total = totals[v["role"]];
    uint64_t values = 1;
    for (const ordered_json &n : v["shape"])
      values *= n.get<uint64_t>();
    total.tensors += 1;
    total.values += values;
    total.bytes += v["bytes"].get<uint64_t>();
    if (v["role"] == "parameter" || v["role"] == "state")
      table.add({v["name"], v["role"], v["type"], dims(v["shape"]), grouped(v["bytes"]), v["at"]});
  }
  out << "Parameters and state:\n";
  table.print(out);
  for (const char *role : {"parameter", "state", "optimizer", "run"})
    if (auto total = totals.find(role); total != totals.end())
      out << "  total " << role << ": " << total->second.tensors << " tensors, "
          << grouped(total->second.values) << " values, " << grouped(total->second.bytes)
          << " bytes\n";
  out << "\n";
}

void printMemory(const ordered_json &memory, std::ostream &out) {
  uint64_t arena = memory["arena"], persistent = memory["persistent"];
  out << "Memory: one arena of " << grouped(arena) << " bytes: " << grouped(persistent)
      << " persistent and " << grouped(arena - persistent) << " scratch; and "
      << grouped(memory["thread_scratch"]) << " bytes per worker thread\n";
  Table entries({"entry", "scratch", "largest live sum", "scratch / sum"},
                {false, true, true, true});
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
  out << "Kernels (" << kernels.size() << "; FLOPs and bytes per launch):\n";
  Table table({"symbol", "shape", "tasks", "a step", "kFLOP", "kB", "ops", "at"},
              {false, false, true, true, true, true, false, false});
  for (const ordered_json &k : kernels) {
    std::string times = std::to_string(k["launches"].value("step", uint64_t(0)));
    table.add({k["symbol"], k["shape"], std::to_string(k["tasks"].get<uint64_t>()), times,
               fixed(k["flops"].get<uint64_t>() / 1e3, 1),
               fixed(k["bytes"].get<uint64_t>() / 1e3, 1), opCounts(k["ops"]), lines(k["at"])});
  }
  table.print(out);
  out << "\n";
}

std::string postOps(const ordered_json &product) {
  std::string result;
  for (const char *name : {"bias", "relu", "accumulate"})
    if (product[name])
      result += (result.empty() ? "" : " ") + std::string(name);
  return result;
}

void printProducts(const ordered_json &products, std::ostream &out) {
  if (products.empty())
    return;
  out << "Products (library calls; batch x m x n x k):\n";
  Table table({"entry", "dimensions", "tile", "with", "times", "MFLOP", "at"},
              {false, false, false, false, true, true, false});
  for (const ordered_json &p : products)
    table.add({p["entry"], dims({p["batch"], p["m"], p["n"], p["k"]}), dims(p["tile"]), postOps(p),
               std::to_string(p["times"].get<uint64_t>()), mega(p["flops"]), lines(p["at"])});
  table.print(out);
  out << "\n";
}

void printConvolutions(const ordered_json &convolutions, std::ostream &out) {
  if (convolutions.empty())
    return;
  out << "Convolutions (library calls; images x channels x height x width):\n";
  Table table(
      {"entry", "kind", "layout", "input", "weight", "stride", "padding", "times", "MFLOP", "at"},
      {false, false, false, false, false, false, false, true, true, false});
  for (const ordered_json &c : convolutions)
    table.add({c["entry"], c["kind"], c["layout"], dims(c["input"]), dims(c["weight"]),
               dims(c["stride"], ","), dims(c["padding"], ","),
               std::to_string(c["times"].get<uint64_t>()), mega(c["flops"]), lines(c["at"])});
  table.print(out);
  out << "\n";
}

} // namespace

void printDescription(const ordered_json &facts, std::ostream &out) {
  printHead(facts, out);
  printVariables(facts, out);
  printMemory(facts["memory"], out);
  printKernels(facts["kernels"], out);
  printProducts(facts["products"], out);
  printConvolutions(facts["convolutions"], out);
  const ordered_json &step = facts["step"];
  out << "One step: " << step["launches"] << " kernel launches, " << step["products"]
      << " products, " << step["convolutions"] << " convolutions; " << mega(step["flops"])
      << " MFLOP, " << mega(step["bytes"]) << " MB read and written\n";
}

} // namespace weir
