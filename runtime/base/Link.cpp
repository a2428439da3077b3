//===- Link.cpp - What joins two ranks ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Link.h"
#include "runtime/base/Text.h"
#include <charconv>
#include <span>
#include <utility>

namespace weir {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr Unit bytesUnits[] = {{"B/s", 1},         {"kB/s", 1e3},      {"MB/s", 1e6},
                               {"GB/s", 1e9},      {"TB/s", 1e12},     {"KiB/s", 1 << 10},
                               {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30}, {"TiB/s", 1ll << 40}};
constexpr Unit timeUnits[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
constexpr Unit flopsUnits[] = {
    {"FLOP/s", 1}, {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};

/// A number above `least` with one of the units behind it, in those.
std::optional<double> numberIn(std::string_view text, std::span<const Unit> units, double least) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(size_t(end - text.data()));
  for (auto [name, factor] : units)
    if (error == std::errc() && unit == name && number * factor >= least && number * factor < 1e24)
      return number * factor;
  return std::nullopt;
}

std::pair<std::string_view, std::optional<std::string_view>> cut(std::string_view text) {
  size_t comma = text.find(',');
  if (comma == std::string_view::npos)
    return {text, std::nullopt};
  return {text.substr(0, comma), text.substr(comma + 1)};
}

} // namespace

std::optional<Link> Link::parse(std::string_view text) {
  auto [bandwidth, latency] = cut(text);
  std::optional<double> bytes = numberIn(bandwidth, bytesUnits, 1),
                        seconds = latency ? numberIn(*latency, timeUnits, 0) : 0.0;
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
  std::optional<double> flops = numberIn(compute, flopsUnits, 1),
                        bytes = memory ? numberIn(*memory, bytesUnits, 1) : std::nullopt;
  if (!flops || !bytes)
    return std::nullopt;
  return Rates{*flops, *bytes};
}

} // namespace weir
