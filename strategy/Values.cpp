//===- Values.cpp - The values of a strategy that have names -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "strategy/Values.h"
#include "support/Text.h"
#include <algorithm>
#include <charconv>
#include <optional>

namespace weir::strategy {
namespace {

template <class Enum> struct Named {
  Enum value;
  std::string_view name;
};

constexpr Named<PipelineSchedule::Kind> schedules[] = {
    {PipelineSchedule::gpipe, "gpipe"},
    {PipelineSchedule::one_f_one_b, "1f1b"},
    {PipelineSchedule::interleaved, "interleaved"},
    {PipelineSchedule::zero_bubble, "zero-bubble"},
};
constexpr Named<ContextParallel> contextParallels[] = {
    {ContextParallel::all_to_all, "all-to-all"},
    {ContextParallel::gather, "gather"},
    {ContextParallel::ring, "ring"},
};
constexpr Named<OffloadedVariables> offloads[] = {
    {OffloadedVariables::none, "none"},
    {OffloadedVariables::optimizer, "optimizer"},
    {OffloadedVariables::parameters, "parameters"},
};
constexpr std::string_view activations = "activations";

template <class Enum, size_t count>
std::optional<Enum> valueNamed(std::string_view name, const Named<Enum> (&all)[count]) {
  auto found = std::ranges::find(all, name, &Named<Enum>::name);
  return found == std::end(all) ? std::nullopt : std::optional(found->value);
}

template <class Enum, size_t count>
std::string nameIn(Enum value, const Named<Enum> (&all)[count]) {
  return std::string(std::ranges::find(all, value, &Named<Enum>::value)->name);
}

/// "a, b or c"
std::string alternatives(const std::vector<std::string> &all) {
  std::string text;
  for (size_t i = 0; i < all.size(); ++i)
    text += concat(i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", all[i]);
  return text;
}

template <class Enum, size_t count> std::string namesOf(const Named<Enum> (&all)[count]) {
  std::vector<std::string> names;
  for (const Named<Enum> &one : all)
    names.emplace_back(one.name);
  return alternatives(names);
}

/// "" where something was found, which is put into `value`.
template <class T>
std::string set(T &value, const std::optional<T> &found, std::string_view text,
                std::string_view expected) {
  if (!found)
    return concat("expected ", expected, butFound(text));
  value = *found;
  return "";
}

std::optional<PipelineSchedule> scheduleNamed(std::string_view text) {
  const size_t colon = text.find(':');
  auto kind = valueNamed(text.substr(0, colon), schedules);
  if (!kind)
    return std::nullopt;
  const bool hasChunks = kind == PipelineSchedule::interleaved;
  PipelineSchedule schedule{*kind, hasChunks ? 2 : 1};
  if (colon == text.npos)
    return schedule;
  std::string_view number = text.substr(colon + 1);
  auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), schedule.chunks);
  bool isNumber = error == std::errc() && end == number.data() + number.size();
  if (!hasChunks || !isNumber || schedule.chunks < 2 ||
      schedule.chunks > PipelineSchedule::mostChunks)
    return std::nullopt;
  return schedule;
}

} // namespace

std::string butFound(std::string_view text) {
  return concat(", but found ", text.empty() ? "\"\"" : text);
}

std::string scheduleNames() {
  std::vector<std::string> names;
  for (const auto &one : schedules) {
    names.emplace_back(one.name);
    if (one.value == PipelineSchedule::interleaved)
      names.back() += concat("[:N] (N from 2 to ", PipelineSchedule::mostChunks, ")");
  }
  return alternatives(names);
}

std::string valueOf(std::string_view text, bool &value) {
  if (text != "on" && text != "true" && text != "off" && text != "false")
    return concat("expected on or off", butFound(text));
  value = text == "on" || text == "true";
  return "";
}

std::string valueOf(std::string_view text, Mesh &mesh) {
  auto parsed = Mesh::parse(text);
  if (auto *wrong = std::get_if<std::string>(&parsed))
    return *wrong;
  for (const Mesh::Axis &axis : std::get<Mesh>(parsed).axes)
    if (!isOfBatch(axis.name) && axis.name != tensorAxis && axis.name != stageAxis)
      return concat(axis.name, " is not a mesh axis: expected dp (data parallel), tp (tensor "
                               "parallel), pp (pipeline parallel), ep (expert parallel) or cp "
                               "(context parallel)");
  mesh = std::move(std::get<Mesh>(parsed));
  return "";
}

std::string valueOf(std::string_view text, PipelineSchedule &schedule) {
  return set(schedule, scheduleNamed(text), text, scheduleNames());
}

std::string valueOf(std::string_view text, ContextParallel &value) {
  return set(value, valueNamed(text, contextParallels), text, namesOf(contextParallels));
}

std::string valueOf(std::string_view text, Precision &precision) {
  return set(precision, precisionNamed(text), text, precisionOptions());
}

std::string valueOf(std::string_view text, LossScale &scale) {
  return set(scale, lossScaleNamed(text), text, lossScaleOptions());
}

std::string valueOf(std::string_view text, Offload &offload) {
  Offload read;
  std::vector<std::string> seen;
  for (const std::string &word : split(text, ',')) {
    auto variables = valueNamed(word, offloads);
    if (word != activations && !variables)
      return concat("expected ", activations, ", optimizer or parameters", butFound(word));
    if (std::ranges::find(seen, word) != seen.end())
      return concat(word, " is given twice: expected it once");
    seen.push_back(word);
    if (variables)
      read.variables = std::max(read.variables, *variables);
    else
      read.activations = true;
  }
  offload = read;
  return "";
}

std::string valueOf(std::string_view text, Link &link) {
  return set(link, Link::parse(text), text,
             "bytes per second and the latency of an exchange, such as 50GB/s or 50GB/s,5us");
}

std::string valueOf(std::string_view text, MeshRates &rates) {
  if (std::string wrong = MeshRates::wrong(text); !wrong.empty())
    return wrong;
  rates = *MeshRates::parse(text);
  return "";
}

std::string textOf(bool value) { return value ? "on" : "off"; }
std::string textOf(int64_t value) { return std::to_string(value); }
std::string textOf(const Mesh &mesh) { return mesh.text(); }

std::string textOf(const PipelineSchedule &schedule) {
  std::string name = nameIn(schedule.kind, schedules);
  return schedule.chunks > 2 ? concat(name, ":", schedule.chunks) : name;
}

std::string textOf(ContextParallel value) { return nameIn(value, contextParallels); }
std::string textOf(Precision precision) { return nameOf(precision); }
std::string textOf(Element element) { return std::string(nameOf(element)); }
std::string textOf(const LossScale &scale) { return nameOf(scale); }
std::string textOf(OffloadedVariables variables) { return nameIn(variables, offloads); }

std::string textOf(const Offload &offload) {
  if (!offload.activations)
    return textOf(offload.variables);
  return offload.variables == OffloadedVariables::none
             ? std::string(activations)
             : concat(activations, ",", textOf(offload.variables));
}

std::string textOf(const Link &link) { return link.text(); }
std::string textOf(const MeshRates &rates) { return rates.text(); }

} // namespace weir::strategy
