//===- Link.cpp - What joins two ranks ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Link.h"
#include "runtime/base/Text.h"
#include "runtime/base/Units.h"
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

} // namespace weir
