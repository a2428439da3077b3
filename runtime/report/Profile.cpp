//===- Profile.cpp - What the time of a step goes to ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/Profile.h"
#include "artifact/Actions.h"
#include "artifact/Lines.h"
#include "support/Number.h"
#include "support/Table.h"
#include "support/Text.h"
#include <algorithm>
#include <cassert>
#include <map>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Row = Profile::Row;

bool isWork(const artifact::Action &action) {
  switch (action.work_type()) {
  case artifact::Work::Launch:
  case artifact::Work::Call:
  case artifact::Work::Copy:
  case artifact::Work::Collective:
  case artifact::Work::Transfer:
    return true;
  default:
    return false; // a loop's actions count themselves
  }
}

/// The plan's name for a kernel, which all its parts share.
std::string nameOf(const artifact::Kernel &kernel) {
  std::string name = kernel.symbol()->str();
  return name.substr(0, name.size() - (kernel.suffix() ? kernel.suffix()->size() : 0));
}

/// What makes actions one row.
struct Kind {
  std::string words;            ///< of a launch, its kernel's shape
  std::vector<std::string> ops; ///< of a launch; its kernel's name where they are not known
  Lines lines;
  auto operator<=>(const Kind &) const = default;
};

Kind kindOf(const artifact::Program &program, const artifact::Action &action) {
  Kind kind;
  kind.lines = linesOf(action.locations());
  const artifact::Launch *launch = action.work_as_Launch();
  if (!launch) {
    kind.words = artifact::describe(program, action);
    return kind;
  }
  const artifact::Kernel &kernel = *program.kernels()->Get(launch->kernel());
  kind.words = kernel.shape()->str();
  if (kernel.ops())
    for (const flatbuffers::String *op : *kernel.ops())
      kind.ops.push_back(op->str());
  if (kind.ops.empty())
    kind.ops.push_back(nameOf(kernel));
  return kind;
}

/// A row as it grows.
struct Gathered {
  Row row;
  std::map<std::string, double> kernels; ///< name -> seconds
};

void add(Gathered &to, const artifact::Program &program, const artifact::Action &action,
         const Trace::Sum &sum, double perStep) {
  double runs = perStep * static_cast<double>(sum.runs),
         seconds = perStep * static_cast<double>(sum.time) / 1e9;
  spec::Cost cost = artifact::costOf(program, action); // of a kernel's first part: of all
  to.row.seconds += seconds;
  to.row.flops += runs * static_cast<double>(cost.flops);
  to.row.bytes += runs * static_cast<double>(cost.bytes);
  const artifact::Launch *launch = action.work_as_Launch();
  if (!launch) {
    to.row.runs += runs;
    return;
  }
  const artifact::Kernel &kernel = *program.kernels()->Get(launch->kernel());
  if (kernel.part() == 0)
    to.row.runs += runs;
  auto [known, isNew] = to.kernels.try_emplace(nameOf(kernel), 0);
  known->second += seconds;
  if (isNew)
    to.row.kernels.push_back(known->first);
}

/// "kernel_3, row"; "kernel_3 and 8 like it, row", after the one that takes longest.
std::string wordsOf(const std::map<std::string, double> &kernels, const std::string &shape) {
  auto longest = std::max_element(kernels.begin(), kernels.end(),
                                  [](auto &a, auto &b) { return a.second < b.second; });
  std::string others = kernels.size() > 1 ? concat(" and ", kernels.size() - 1, " like it") : "";
  return concat(longest->first, others, ", ", shape);
}

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? formatted("%.1f", amount / seconds / 1e9) : "-";
}

std::string milliseconds(double seconds) { return formatted("%.3f", 1e3 * seconds); }

/// Seldom a fraction: every step runs the same actions.
std::string count(double runs) { return formatted("%.6g", runs); }

} // namespace

double Profile::actions() const {
  double sum = 0;
  for (const Row &row : rows)
    sum += row.seconds;
  return sum;
}

Profile profileOf(const artifact::Program &program, const artifact::Entry &entry,
                  const Trace::Sums &sums, const StepTimes &times) {
  assert(times.steps > 0);
  std::vector<const artifact::Action *> actions = artifact::actionsOf(entry);
  double perStep = 1.0 / static_cast<double>(times.steps);
  std::map<Kind, Gathered> kinds;
  for (size_t number = 0; number < actions.size(); ++number)
    if (isWork(*actions[number]))
      add(kinds[kindOf(program, *actions[number])], program, *actions[number], sums.at(number),
          perStep);

  Profile profile;
  profile.steps = times.steps;
  profile.mesh = program.mesh() ? program.mesh()->str() : "";
  for (auto &[kind, gathered] : kinds) {
    Row &row = gathered.row;
    row.what = gathered.kernels.empty() ? kind.words : wordsOf(gathered.kernels, kind.words);
    row.at = placesOf(program, kind.lines);
    profile.rows.push_back(std::move(row));
  }
  std::stable_sort(profile.rows.begin(), profile.rows.end(),
                   [](const Row &a, const Row &b) { return a.seconds > b.seconds; });
  profile.dispatch = std::max(0.0, times.running * perStep - profile.actions());
  profile.waiting = times.waiting * perStep;
  profile.around = times.around * perStep;
  return profile;
}

std::vector<std::string> profileText(const Profile &profile, size_t most) {
  double step = profile.seconds();
  Table table({"share", "ms", "runs", "GFLOP/s", "GB/s", "what", "at"},
              {true, true, true, true, true, false, false});
  auto add = [&](const Row &row) {
    table.add({formatted("%.1f%%", step > 0 ? 100 * row.seconds / step : 0),
               milliseconds(row.seconds), count(row.runs), rate(row.flops, row.seconds),
               rate(row.bytes, row.seconds), row.what, linesText(row.at)});
  };
  auto together = [&](size_t from) {
    Row sum;
    for (size_t i = from; i < profile.rows.size(); ++i) {
      const Row &row = profile.rows[i];
      sum.runs += row.runs, sum.seconds += row.seconds;
      sum.flops += row.flops, sum.bytes += row.bytes;
    }
    return sum;
  };
  // One other is no longer than "1 others".
  size_t shown = profile.rows.size() > most + 1 ? most : profile.rows.size();
  for (size_t i = 0; i < shown; ++i)
    add(profile.rows[i]);
  if (Row others = together(shown); shown < profile.rows.size()) {
    others.what = concat(profile.rows.size() - shown, " others");
    add(others);
  }
  table.add({formatted("%.1f%%", step > 0 ? 100 * profile.idle() / step : 0),
             milliseconds(profile.idle()), "", "", "", "no action",
             concat("between actions ", milliseconds(profile.dispatch), ", waiting for data ",
                    milliseconds(profile.waiting), ", batch, results and reports ",
                    milliseconds(profile.around))});
  Row all = together(0);
  all.what = "a step";
  all.seconds = step;
  add(all);

  std::string of = profile.withFirst ? "the first step, which takes longer than others"
                                     : concat(profile.steps, " steps, all but the first");
  if (!profile.withFirst && profile.steps == 1)
    of = "1 step, the second";
  std::string whose = profile.mesh.empty() ? "" : concat(", of the first rank of ", profile.mesh);
  std::vector<std::string> lines = {
      concat("Profile of ", of, ": ", milliseconds(step), " ms a step", whose)};
  for (std::string &line : table.lines())
    lines.push_back(std::move(line));
  return lines;
}

std::string profileJson(const Profile &profile) {
  using nlohmann::ordered_json;
  auto known = [](double amount) { return amount > 0 ? ordered_json(amount) : ordered_json(); };
  ordered_json actions = ordered_json::array();
  for (const Row &row : profile.rows) {
    ordered_json action = {{"what", row.what},          {"runs", row.runs},
                           {"ms", 1e3 * row.seconds},   {"flops", known(row.flops)},
                           {"bytes", known(row.bytes)}, {"at", row.at}};
    if (!row.kernels.empty())
      action["kernels"] = row.kernels;
    actions.push_back(std::move(action));
  }
  ordered_json all = {{"steps", profile.steps},
                      {"with_first", profile.withFirst},
                      {"mesh", profile.mesh},
                      {"step_ms", 1e3 * profile.seconds()},
                      {"actions", actions},
                      {"no_action",
                       {{"between_actions_ms", 1e3 * profile.dispatch},
                        {"waiting_for_data_ms", 1e3 * profile.waiting},
                        {"batch_results_reports_ms", 1e3 * profile.around}}}};
  return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace weir
