//===- InspectTime.cpp - weir inspect --time ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/InspectTime.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "support/Error.h"
#include "support/Number.h"
#include "support/Table.h"
#include "support/Text.h"
#include "support/mesh/Stages.h"
#include "support/planned/Simulate.h"
#include "tools/common/Files.h"
#include "tools/weir/Numbers.h"
#include "tools/weir/inspect/PrintFacts.h"
#include <algorithm>
#include <map>

using nlohmann::ordered_json;

namespace weir {
namespace {

using planned::TimedAction;

class Timing {
public:
  Timing(const artifact::Program &program, const Rates &rates, const Link &link)
      : program(program), rates(rates), link(link) {}

  std::vector<TimedAction>
  timed(const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions,
        uint64_t rounds = 1) {
    std::vector<TimedAction> all;
    for (const artifact::Action *action : actions)
      all.push_back(timed(*action, rounds));
    return all;
  }

  /// The collectives of one line of the model.
  struct Line {
    uint64_t times = 0, bytes = 0;
    double seconds = 0;
  };
  std::map<std::string, Line> lines;
  std::vector<std::string> order; ///< of lines, by first appearance
  /// The line of each collective, in the order of the timed actions.
  std::vector<std::string> places;

private:
  TimedAction timed(const artifact::Action &action, uint64_t rounds) {
    using Kind = TimedAction::Kind;
    TimedAction one{.queue = action.queue()};
    if (const artifact::Loop *loop = action.work_as_Loop()) {
      one.kind = Kind::loop;
      one.count = loop->count();
      one.body = timed(*loop->body(), rounds * loop->count());
    } else if (const artifact::Record *record = action.work_as_Record()) {
      one.kind = Kind::record;
      one.event = record->event();
    } else if (const artifact::Wait *wait = action.work_as_Wait()) {
      one.kind = Kind::wait;
      one.event = wait->event();
    } else if (const artifact::Collective *collective = action.work_as_Collective()) {
      one.kind = Kind::collective;
      one.seconds = secondsOf(*collective);
      add(action, *collective, one.seconds, rounds);
    } else {
      spec::Cost cost = artifact::costOf(program, action);
      one.seconds = rates.secondsOf(double(cost.flops), double(cost.bytes));
    }
    return one;
  }

  double secondsOf(const artifact::Collective &collective) const {
    uint64_t all = 0, others = collective.bytes()->size() - 1;
    for (uint64_t bytes : *collective.bytes())
      all += bytes;
    uint64_t given = others * collective.own(), rest = all - collective.own();
    return link.secondsOf(given, rest);
  }

  void add(const artifact::Action &action, const artifact::Collective &collective, double seconds,
           uint64_t rounds) {
    std::string at = "no line";
    if (action.locations() && action.locations()->size())
      if (const artifact::Location &first = *action.locations()->Get(0); first.line())
        at = concat(program.files()->Get(first.file())->string_view(), ":", first.line());
    auto [line, isNew] = lines.try_emplace(at);
    if (isNew)
      order.push_back(at);
    line->second.times += rounds;
    line->second.bytes += rounds * artifact::receivedIn(collective);
    line->second.seconds += double(rounds) * seconds;
    places.push_back(at);
  }

  const artifact::Program &program;
  const Rates rates;
  const Link link;
};

/// The same actions, with collectives that are free on some lines. `place` walks along `places`.
template <class Takes>
std::vector<TimedAction> withSome(std::vector<TimedAction> actions,
                                  const std::vector<std::string> &places, size_t &place,
                                  const Takes &takes) {
  for (TimedAction &action : actions)
    if (action.kind == TimedAction::Kind::collective)
      action.seconds = takes(places[place++]) ? action.seconds : 0;
    else
      action.body = withSome(std::move(action.body), places, place, takes);
  return actions;
}

std::string milliseconds(const ordered_json &seconds) {
  return formatted("%.3f", 1e3 * seconds.get<double>());
}

std::string percentOf(const ordered_json &part, const ordered_json &whole) {
  return whole.get<double>() > 0
             ? formatted("%.1f %%", 100 * part.get<double>() / whole.get<double>())
             : "-";
}

const char *assumed(const ordered_json &facts) { return facts["assumed"] ? " (assumed)" : ""; }

void printTime(const ordered_json &facts, std::ostream &out) {
  const ordered_json &rates = facts["rates"], &link = facts["link"];
  out << facts["model"].get<std::string>() << " for " << facts["target"].get<std::string>();
  if (!facts["mesh"].is_null())
    out << " on " << facts["mesh"].get<std::string>();
  out << "\nPredicted time of a step, for "
      << formatted("%.4g TFLOP/s", rates["flops_per_second"].get<double>() / 1e12) << " and "
      << formatted("%.4g GB/s", rates["bytes_per_second"].get<double>() / 1e9)
      << " of memory bandwidth" << assumed(rates);
  if (!facts["mesh"].is_null())
    out << "; a link of " << formatted("%.4g GB/s", link["bytes_per_second"].get<double>() / 1e9)
        << " with a latency of " << formatted("%.4g us", 1e6 * link["latency"].get<double>())
        << assumed(link);
  out << "\n";
  Table table({"", "ms"}, {false, true});
  table.add({"step", milliseconds(facts["seconds"])});
  if (!facts["mesh"].is_null()) {
    table.add({"step without overlap", milliseconds(facts["one_after_the_other"])});
    table.add({"computation", milliseconds(facts["computing"])});
    table.add({"communication", milliseconds(facts["communicating"])});
    table.add({"exposed communication", milliseconds(facts["exposed"])});
  }
  table.print(out);
  if (facts["lines"].empty())
    return;
  out << "\nCommunication by line of the model\n";
  Table lines({"at", "times", "bytes", "ms", "exposed", "exposed of others"},
              {false, true, true, true, true, true});
  for (const ordered_json &row : facts["lines"])
    lines.add({row["at"], grouped(row["times"]), grouped(row["bytes"]),
               milliseconds(row["communicating"]), percentOf(row["exposed"], row["communicating"]),
               percentOf(row["rest_exposed"], row["rest_communicating"])});
  lines.print(out);
}

} // namespace

ordered_json describeTime(const artifact::Program &program, const TimeOptions &options,
                          RatesOfTarget ratesOf) {
  const Mesh mesh = artifact::meshOf(program);
  if (stagesOf(mesh) > 1)
    throw Failure(Exit::usage,
                  "--time predicts ranks that run the same program, but pipeline stages differ "
                  "and wait for each other: `weir inspect --sharding` estimates the idle share of "
                  "each stage");
  std::string target = artifact::deviceOf(program).target()->str();
  Rates rates = options.rates.empty() ? ratesOf(target) : *Rates::parse(options.rates);
  Link link = options.link.empty() ? machines::defaultLink : *Link::parse(options.link);
  Timing timing(program, rates, link);
  std::vector<TimedAction> step;
  for (const artifact::Entry *entry : *program.entries())
    if (entry->name()->string_view() == "step")
      step = timing.timed(*entry->actions());
  planned::EntryTime time = planned::timeOf(step);
  double computing = time.all - time.exposed;
  ordered_json lines = ordered_json::array();
  for (const std::string &at : timing.order) {
    const Timing::Line &line = timing.lines[at];
    size_t place = 0;
    double rest = planned::secondsOf(
        withSome(step, timing.places, place, [&](const std::string &one) { return one != at; }));
    lines.push_back({{"at", at},
                     {"times", line.times},
                     {"bytes", line.bytes},
                     {"communicating", line.seconds},
                     {"exposed", time.all - rest},
                     {"rest_communicating", time.communicating - line.seconds},
                     {"rest_exposed", rest - computing}});
  }
  return {{"model", program.model()->str()},
          {"target", target},
          {"mesh", program.mesh() ? ordered_json(program.mesh()->str()) : ordered_json()},
          {"rates",
           {{"flops_per_second", rates.flopsPerSecond},
            {"bytes_per_second", rates.bytesPerSecond},
            {"assumed", options.rates.empty()}}},
          {"link",
           {{"bytes_per_second", link.bytesPerSecond},
            {"latency", link.latency},
            {"assumed", options.link.empty()}}},
          {"seconds", time.all},
          {"one_after_the_other", planned::secondsOf(planned::onOneQueue(step))},
          {"computing", computing},
          {"communicating", time.communicating},
          {"exposed", time.exposed},
          {"lines", lines}};
}

void inspectTime(const std::string &path, const TimeOptions &options, RatesOfTarget ratesOf,
                 bool json) {
  std::vector<std::byte> bytes = readUndamagedArtifact(path);
  printFacts(describeTime(artifact::verify(bytes), options, ratesOf), json, printTime);
}

} // namespace weir
