//===- Units.cpp - Numbers with units behind them -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/Units.h"
#include <charconv>
#include <span>
#include <utility>

namespace weir {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr Unit bytesUnits[] = {{"B", 1},         {"kB", 1e3},      {"MB", 1e6},
                               {"GB", 1e9},      {"TB", 1e12},     {"KiB", 1 << 10},
                               {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1ll << 40}};
constexpr Unit timeUnits[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
constexpr Unit flopsUnits[] = {
    {"FLOP", 1}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}};

/// A number of at least `least` with one of the units behind it, and `per` behind that, in those.
std::optional<double> numberIn(std::string_view text, std::span<const Unit> units,
                               std::string_view per, double least) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(size_t(end - text.data()));
  if (error != std::errc() || !unit.ends_with(per))
    return std::nullopt;
  unit.remove_suffix(per.size());
  for (auto [name, factor] : units)
    if (unit == name && number * factor >= least && number * factor < 1e24)
      return number * factor;
  return std::nullopt;
}

} // namespace

std::optional<double> bytesIn(std::string_view text) { return numberIn(text, bytesUnits, "", 1); }
std::optional<double> bytesPerSecondIn(std::string_view text) {
  return numberIn(text, bytesUnits, "/s", 1);
}
std::optional<double> flopsPerSecondIn(std::string_view text) {
  return numberIn(text, flopsUnits, "/s", 1);
}
std::optional<double> secondsIn(std::string_view text) { return numberIn(text, timeUnits, "", 0); }

} // namespace weir
