//===- MachineRates.cpp - How fast machines are ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/MachineRates.h"
#include "support/Text.h"
#include "support/Units.h"
#include <utility>

namespace weir {
namespace {

std::pair<std::string_view, std::optional<std::string_view>> cut(std::string_view text) {
  size_t comma = text.find(',');
  if (comma == std::string_view::npos)
    return {text, std::nullopt};
  return {text.substr(0, comma), text.substr(comma + 1)};
}

} // namespace

std::optional<Link> Link::parse(std::string_view text) {
  auto [bandwidth, latency] = cut(text);
  std::optional<double> bytes = bytesPerSecondIn(bandwidth),
                        seconds = latency ? secondsIn(*latency) : 0.0;
  if (!bytes || !seconds)
    return std::nullopt;
  return Link{*bytes, *seconds};
}

std::string Link::text() const {
  std::string latencyText = latency > 0 ? concat(",", latency * 1e6, "us") : "";
  return bytesPerSecond < 1e9 ? concat(bytesPerSecond / 1e6, "MB/s", latencyText)
                              : concat(bytesPerSecond / 1e9, "GB/s", latencyText);
}

std::optional<Rates> Rates::parse(std::string_view text) {
  auto [compute, memory] = cut(text);
  std::optional<double> flops = flopsPerSecondIn(compute),
                        bytes = memory ? bytesPerSecondIn(*memory) : std::nullopt;
  if (!flops || !bytes)
    return std::nullopt;
  return Rates{*flops, *bytes};
}

std::optional<MeshRates> MeshRates::parse(std::string_view text) {
  MeshRates rates;
  if (text.empty())
    return rates;
  std::vector<std::string> words = split(text, ',');
  if (words.size() % 3 != 2)
    return std::nullopt;
  std::optional<Rates> rank = Rates::parse(words[0] + "," + words[1]);
  if (!rank)
    return std::nullopt;
  rates.rank = *rank;
  for (size_t i = 2; i < words.size(); i += 3) {
    size_t equals = words[i].find('=');
    if (equals == std::string::npos || equals == 0)
      return std::nullopt;
    std::optional<double> gather = bytesPerSecondIn(words[i].substr(equals + 1)),
                          exchange = bytesPerSecondIn(words[i + 1]),
                          latency = secondsIn(words[i + 2]);
    if (!gather || !exchange || !latency ||
        !rates.axes.try_emplace(words[i].substr(0, equals), AxisRates{*gather, *exchange, *latency})
             .second)
      return std::nullopt;
  }
  return rates;
}

std::string MeshRates::wrong(std::string_view text) {
  return parse(text) ? ""
                     : concat("cannot read the rates ", text,
                              ": expected FLOPs per second, memory bandwidth, and for each "
                              "axis the bandwidth of all-gathers, the bandwidth of "
                              "all-to-alls and the latency, such as "
                              "400TFLOP/s,3TB/s,tp=50GB/s,50GB/s,5us");
}

/// Few digits that parse to about the number.
static std::string inUnit(double number, const char *unit, const char *per) {
  for (auto [prefix, factor] : {std::pair("T", 1e12), std::pair("G", 1e9)})
    if (number >= factor)
      return concat(number / factor, prefix, unit, per);
  return concat(number / 1e6, "M", unit, per);
}

std::string MeshRates::text() const {
  std::string text =
      inUnit(rank.flopsPerSecond, "FLOP", "/s") + "," + inUnit(rank.bytesPerSecond, "B", "/s");
  for (const auto &[axis, rates] : axes)
    text += concat(",", axis, "=", inUnit(rates.gather, "B", "/s"), ",",
                   inUnit(rates.exchange, "B", "/s"), ",", rates.latency * 1e6, "us");
  return text;
}

} // namespace weir
