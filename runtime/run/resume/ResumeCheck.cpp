//===- ResumeCheck.cpp - Checks that a run resumes with its own settings --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/ResumeCheck.h"
#include "strategy/Fields.h"
#include "support/Error.h"
#include "support/Number.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include <algorithm>
#include <map>

namespace weir {
namespace {

/// One fact of a run. `compare` returns what differs, or "" where nothing does or one of the two
/// does not know.
struct Fact {
  const char *name;
  Exit exit;
  bool (*known)(const Manifest &);
  std::string (*compare)(const Manifest &before, const Manifest &now);
};

std::string quoted(const std::string &text) { return "'" + shownName(text) + "'"; }

std::string compareConfigs(const Manifest &before, const Manifest &now) {
  // Where the program is the same, a config that differs changes nothing in it.
  if (!before.training.empty() && before.training == now.training)
    return "";
  std::vector<std::string> lines;
  for (const auto &[name, value] : before.configs) {
    auto other = now.configs.find(name);
    if (other == now.configs.end())
      lines.push_back(concat(shownName(name), " was ", shownName(value), ", now there is none"));
    else if (other->second != value)
      lines.push_back(concat(shownName(name), " was ", shownName(value), ", now it is ",
                             shownName(other->second)));
  }
  for (const auto &[name, value] : now.configs)
    if (!before.configs.contains(name))
      lines.push_back(concat(shownName(name), " is ", shownName(value), ", there was none"));
  return joinFew(lines, "; ");
}

std::string compareModels(const Manifest &before, const Manifest &now) {
  if (before.training == now.training)
    return "";
  return concat(
      "a step of ", quoted(now.model), " computes something different from a step of ",
      quoted(before.model), " did, although its tensors have the same names and shapes (",
      before.configs == now.configs
          ? "another version of Weir may also compile the same model differently)"
          : "the configs differ, which changes the program; the model may have changed as well)");
}

std::string compareData(const Manifest &before, const Manifest &now) {
  std::vector<std::string> lines;
  for (const auto &[input, data] : now.data) {
    auto other = before.data.find(input);
    if (other == before.data.end()) {
      lines.push_back(concat("the input ", quoted(input), " had no data"));
      continue;
    }
    const Manifest::Data &was = other->second;
    if (was.fingerprint.empty() ||
        (was.fingerprint == data.fingerprint && was.size == data.size && was.format == data.format))
      continue;
    lines.push_back(concat("the input ", quoted(input), " was read from ", shownName(was.path),
                           " (", was.size, " bytes, ", shownName(was.format), "), now from ",
                           shownName(data.path), " (", data.size, " bytes, ", data.format,
                           was.size == data.size ? ", with other content)" : ")"));
  }
  return joinFew(lines, "; ");
}

std::string compareHoldout(const Manifest &before, const Manifest &now) {
  if (!before.holdout || before.holdout == now.holdout)
    return "";
  auto said = [](double fraction) {
    return fraction > 0 ? "--holdout " + shortest(fraction) : std::string("no --holdout");
  };
  return concat("it was ", said(*before.holdout), ", now it is ", said(*now.holdout),
                *now.holdout < *before.holdout ? ", which trains on data that was held out" : "");
}

std::string compareOrder(const Manifest &before, const Manifest &now) {
  if (!before.shuffle || before.shuffle == now.shuffle)
    return "";
  return *now.shuffle ? "it was --no-shuffle, now the rows are shuffled"
                      : "the rows were shuffled, now it is --no-shuffle";
}

bool knowsData(const Manifest &manifest) {
  for (const auto &[input, data] : manifest.data)
    if (data.fingerprint.empty())
      return false;
  return true;
}

constexpr Fact facts[] = {
    {"model", Exit::model, [](const Manifest &m) { return !m.training.empty(); }, compareModels},
    {"configs", Exit::model, [](const Manifest &) { return true; }, compareConfigs},
    {"data", Exit::usage, knowsData, compareData},
    {"holdout", Exit::usage, [](const Manifest &m) { return m.holdout.has_value(); },
     compareHoldout},
    {"order", Exit::usage, [](const Manifest &m) { return m.shuffle.has_value(); }, compareOrder},
};

/// A field of the strategy that differs, "zero: 1 -> 2".
struct FieldDifference {
  std::string name, words;
  bool isFree; ///< a resumed run may change it
};

/// Values by field, of a list all of them; a field that is missing has its default.
using FieldValues = std::map<std::string, std::string, std::less<>>;

FieldValues strategyOf(const Manifest &manifest) {
  FieldValues values;
  for (const auto &[name, value] : strategy::recordedFields(manifest.strategy.value_or(""))) {
    std::string &all = values[name];
    all += concat(all.empty() ? "" : ",", value);
  }
  // Older manifests have these fields alone.
  values["precision"] = manifest.precision;
  values["param-dtype"] = manifest.master;
  values["loss-scale"] = manifest.lossScale;
  return values;
}

std::string valueIn(const FieldValues &values, const std::string &name) {
  if (auto found = values.find(name); found != values.end())
    return shownName(found->second);
  const strategy::Field *known = strategy::findField(name);
  return known ? std::string(known->standard) : "its default";
}

/// Whether a resumed run may change the field. What another precision needs of the loss scale
/// follows from it.
bool isFree(const std::string &name, const Manifest &before, const Manifest &now) {
  const strategy::Field *known = strategy::findField(name);
  return !known || known->record != strategy::Field::Record::fixed ||
         (name == "loss-scale" && before.precision != now.precision);
}

/// Fields in the order of strategy::fields(), and behind them those of later versions.
std::vector<FieldDifference> compareStrategies(const Manifest &before, const Manifest &now) {
  const FieldValues was = strategyOf(before), is = strategyOf(now);
  const bool known = before.strategy && now.strategy;
  std::vector<std::string> names;
  for (const strategy::Field &field : strategy::fields())
    names.emplace_back(field.name);
  for (const FieldValues *values : {&was, &is})
    for (const auto &[name, value] : *values)
      if (std::ranges::find(names, name) == names.end())
        names.push_back(name);
  std::vector<FieldDifference> differing;
  for (const std::string &name : names) {
    const bool free = isFree(name, before, now);
    std::string from = valueIn(was, name), to = valueIn(is, name);
    if (from != to && (known || !free))
      differing.push_back({name, concat(shownName(name), ": ", from, " -> ", to), free});
  }
  return differing;
}

} // namespace

const std::vector<std::string> &changeableFacts() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Fact &fact : facts)
      all.push_back(fact.name);
    for (const strategy::Field &field : strategy::fields())
      if (field.record != strategy::Field::Record::nothing)
        all.emplace_back(field.name);
    return all;
  }();
  return names;
}

void requireSameRun(const std::string &path, const Manifest &before, const Manifest &now,
                    const std::vector<std::string> &allowed,
                    const std::function<void(const std::string &)> &say) {
  std::vector<std::string> unknown, refused, lines, changed;
  Exit exit = Exit::usage;
  auto isAllowed = [&](const std::string &name, const std::string &line) {
    const bool found = std::ranges::find(allowed, name) != allowed.end();
    if (found)
      say(concat("--change ", line));
    return found;
  };
  auto refuse = [&](const std::string &name, std::string line, Exit as) {
    refused.push_back(name);
    lines.push_back(std::move(line));
    if (as == Exit::model)
      exit = Exit::model;
  };
  for (const Fact &fact : facts) {
    if (!fact.known(before) || !fact.known(now)) {
      unknown.push_back(fact.name);
      continue;
    }
    std::string difference = fact.compare(before, now);
    if (difference.empty())
      continue;
    std::string line = concat(fact.name, ": ", difference);
    if (!isAllowed(fact.name, line))
      refuse(fact.name, std::move(line), fact.exit);
  }
  for (FieldDifference &field : compareStrategies(before, now)) {
    if (isAllowed(field.name, field.words))
      continue;
    if (field.isFree)
      changed.push_back(std::move(field.words));
    else
      refuse(field.name, std::move(field.words), Exit::model);
  }
  if (!changed.empty())
    say(concat(path, ": the run was started with another strategy: ", join(changed, "; ")));
  if (!lines.empty())
    throw Failure(exit,
                  concat(path, ": the run was started with different settings:\n  ",
                         join(lines, "\n  "),
                         "\nUse the settings of the run, or allow these differences: --change ",
                         join(refused, ",")));
  if (!unknown.empty())
    say(concat(path,
               ": this checkpoint or the artifact is from an older version of Weir, which did not "
               "record everything that defines a run; not compared: ",
               join(unknown)));
}

} // namespace weir
