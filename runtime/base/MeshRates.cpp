//===- MeshRates.cpp - How fast the ranks of a mesh are -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/MeshRates.h"
#include "runtime/base/Text.h"
#include "runtime/base/Units.h"

namespace weir {

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
                     : concat(text, " are no rates: expected operations and bytes of memory per "
                                    "second, and for each axis bytes per second that are gathered "
                                    "and exchanged, and the time that an exchange takes besides, "
                                    "such as 400TFLOP/s,3TB/s,tp=50GB/s,50GB/s,5us");
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
