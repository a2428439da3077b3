//===- PrintPlans.cpp - The tables of weir plan --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/planning/PrintPlans.h"
#include "support/Number.h"
#include "support/Sizes.h"
#include "support/Table.h"
#include "support/Text.h"
#include "tools/weir/Numbers.h"
#include <algorithm>
#include <cmath>

using nlohmann::ordered_json;

namespace weir {

static std::string share(double part, double whole) {
  return formatted("%.1f %%", 100 * part / whole);
}

static std::string sizeText(const ordered_json &bytes) {
  double size = bytes.get<double>();
  return size >= 1e9 ? formatted("%.2f GB", size / 1e9) : bytesText(int64_t(size));
}

void printPlans(const ordered_json &facts, std::ostream &out) {
  std::string unit = facts["unit"];
  out << facts["model"].get<std::string>() << " in " << facts["precision"].get<std::string>()
      << " for " << facts["devices"].get<std::string>() << " ("
      << facts["cluster"].get<std::string>() << ")\n"
      << grouped(facts["examined"]) << " plans estimated from " << grouped(facts["sampled"])
      << " samples, " << grouped(facts["lowered"]) << " lowered\n\n";
  bool priced = !facts["plans"][0]["price"].is_null();
  bool powered = std::ranges::any_of(
      facts["plans"], [](const ordered_json &plan) { return !plan["joules"].is_null(); });
  bool repeats = std::ranges::any_of(facts["plans"], [](const ordered_json &plan) {
    return plan["recomputing"].get<double>() > 0;
  });
  std::vector<std::string> head = {"", "step", "compute"};
  if (repeats)
    head.push_back("recompute");
  head.insert(head.end(), {"exposed", "bubble", unit + "/s", "MFU"});
  if (powered)
    head.push_back("J/1000 " + unit);
  if (priced)
    head.push_back(facts["currency"].get<std::string>() + "/1e9 " + unit);
  head.push_back("memory");
  head.push_back("plan");
  std::vector<bool> right(head.size(), true);
  right.back() = false;
  Table table(head, right);
  int64_t number = 0;
  for (const ordered_json &plan : facts["plans"]) {
    double all = plan["seconds"], items = facts["items"];
    std::vector<std::string> row = {std::to_string(++number), secondsText(all),
                                    share(plan["computing"], all)};
    if (repeats)
      row.push_back(share(plan["recomputing"], all));
    row.insert(row.end(), {share(plan["exposed"], all), share(plan["bubble"], all),
                           withThousands(plan["items_per_second"]),
                           plan["mfu"].is_null() ? "-" : share(plan["mfu"], 1)});
    if (powered)
      row.push_back(plan["joules"].is_null()
                        ? "-"
                        : formatted("%.4g", 1e3 * plan["joules"].get<double>() / items));
    if (priced)
      row.push_back(formatted("%.4g", 1e9 * plan["price"].get<double>() / items));
    row.push_back(sizeText(plan["memory"]["device"]) + (plan["lowered"] ? "" : " ~"));
    std::string text = plan["plan"];
    row.push_back((text.empty() ? "one device" : text) + (plan["fits"] ? "" : " (does not fit)"));
    table.add(row);
  }
  table.print(out);
  out << "\nMemory of the fullest device\n";
  Table memory({"", "parameters", "optimizer", "state", "scratch", "reserve", "on the host"},
               {true, true, true, true, true, true, true});
  number = 0;
  for (const ordered_json &plan : facts["plans"]) {
    const ordered_json &of = plan["memory"];
    memory.add({std::to_string(++number), sizeText(of["parameters"]), sizeText(of["optimizer"]),
                sizeText(of["state"]), sizeText(of["scratch"]), sizeText(of["reserve"]),
                sizeText(of["host"])});
  }
  memory.print(out);
  double best = facts["plans"][0]["seconds"], bound = facts["bound"];
  out << "\nLower bound for every plan: " << secondsText(bound)
      << ", if all devices multiply at their best rate. The first plan takes "
      << formatted("%.2f", best / bound) << " times as long.\n";
  bool hasStages = std::ranges::any_of(facts["plans"], [](const ordered_json &plan) {
    return plan["plan"].get<std::string>().find("pp=") != std::string::npos;
  });
  if (hasStages && facts["target"].get<std::string>().starts_with("cuda"))
    out << "Pipeline stages (pp) can be planned for GPUs, but not compiled yet: --axes dp,ep,cp,tp "
           "excludes them\n";
  if (facts["leaves_stages_out"])
    out << "Pipeline stages (pp) are excluded, as they cannot be compiled for GPUs yet: --axes "
           "pp,dp,ep,cp,tp includes them\n";
  for (const auto &[what, why] : facts["unused"].items())
    if (!what.starts_with("--"))
      out << what << " is not used: " << why.get<std::string>() << "\n";
}

void printDifference(const ordered_json &facts, int64_t first, int64_t second, std::ostream &out) {
  const ordered_json &a = facts["plans"][size_t(first - 1)],
                     &b = facts["plans"][size_t(second - 1)];
  struct Part {
    const char *key, *more;
  };
  constexpr Part parts[] = {{"computing", "computation"},
                            {"recomputing", "recomputation"},
                            {"exposed", "exposed communication"},
                            {"bubble", "pipeline bubble"}};
  double from = a["seconds"], to = b["seconds"];
  out << "Plan " << second << " takes " << secondsText(std::abs(to - from))
      << (to < from ? " less" : " more") << " than plan " << first << ":\n";
  std::vector<std::pair<double, const char *>> differences;
  for (const Part &part : parts)
    differences.push_back({b[part.key].get<double>() - a[part.key].get<double>(), part.more});
  std::ranges::stable_sort(differences, [](const auto &one, const auto &other) {
    return std::abs(one.first) > std::abs(other.first);
  });
  for (const auto &[difference, what] : differences)
    if (std::abs(difference) > 1e-3 * from)
      out << "  " << (difference < 0 ? "-" : "+") << secondsText(std::abs(difference)) << ": "
          << what << "\n";
  double exchanged = b["communicating"].get<double>() - a["communicating"].get<double>();
  out << "  Communication takes " << secondsText(b["communicating"]) << " instead of "
      << secondsText(a["communicating"]) << (exchanged < 0 ? ", less" : "") << ".\n";
  out << "  Plan " << first << ": " << a["plan"].get<std::string>() << "\n  Plan " << second << ": "
      << b["plan"].get<std::string>() << "\n  Memory: " << sizeText(a["memory"]["device"])
      << " and " << sizeText(b["memory"]["device"]);
  for (const auto &[kind, bytes] : a["memory"].items()) {
    double more = b["memory"][kind].get<double>() - bytes.get<double>();
    if (kind != "device" && more != 0)
      out << ", " << kind << (more < 0 ? " -" : " +") << sizeText(std::abs(more));
  }
  out << "\n";
}

} // namespace weir
