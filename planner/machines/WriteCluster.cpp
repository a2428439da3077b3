//===- WriteCluster.cpp - The text of a cluster's file ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/Cluster.h"
#include "planner/machines/TomlTable.h"
#include "support/Number.h"
#include "support/Text.h"

namespace weir::planner {
namespace {

/// A key and a figure of four digits.
std::string line(const char *key, double figure, const char *unit) {
  return concat(key, " = \"", formatted("%.4g", figure), unit, "\"\n");
}

/// Of what may be left out.
std::string known(const char *key, double figure, const char *unit) {
  return figure > 0 ? line(key, figure, unit) : "";
}

std::string rates(const RateOf &rates) {
  std::string text;
  for (const auto &[name, rate] : rates)
    text += line(name.c_str(), rate / 1e9, "GFLOP/s");
  return text;
}

std::string textOf(const DeviceGroup &group, const std::string &source) {
  const Device &device = group.device;
  std::string text = "[[devices]]\n";
  text += concat("name = ", quoted(device.name), "\ntarget = ", quoted(device.target),
                 "\ncount = ", group.count, "\n");
  text += concat("memory = \"", formatted("%.9g", double(device.memory) / 1e3), "kB\"\n");
  text += line("bandwidth", device.bandwidth / 1e9, "GB/s");
  text += line("launch", 1e6 * device.launch, "us");
  text += known("host", device.hostBandwidth / 1e9, "GB/s");
  if (device.watts > 0)
    text += concat("watts = ", formatted("%.4g", device.watts), "\n");
  if (!device.peak.empty())
    text += "\n[devices.peak]\n" + rates(device.peak);
  const ProductRates &products = device.products;
  text += "\n[devices.products]\n" + rates(products.rate);
  if (products.units > 1)
    text += concat("units = ", products.units, "\n");
  if (products.tileRows * products.tileColumns > 1)
    text += concat("tile = [", products.tileRows, ", ", products.tileColumns, "]\n");
  if (products.ramp > 0)
    text += concat("ramp = ", formatted("%.4g", products.ramp), "\n");
  std::string kernels = known("elementwise", device.elementwise / 1e9, "GFLOP/s") +
                        known("attention", device.attention / 1e9, "GFLOP/s") +
                        known("convolution", device.convolution / 1e9, "GFLOP/s");
  text += kernels.empty() ? "" : "\n[devices.kernels]\n" + kernels;
  return text + "\n[devices.sources]\nfigures = " + quoted(source) + "\n";
}

} // namespace

std::string textOf(const Cluster &cluster, const std::string &source) {
  std::string text = concat("name = ", quoted(cluster.name), "\n");
  for (const DeviceGroup &group : cluster.groups)
    text += "\n" + textOf(group, source);
  for (const LinkLevel &level : cluster.levels) {
    text += concat("\n[[links]]\nname = ", quoted(level.name), "\ndevices = ", level.devices, "\n");
    text += line("bandwidth", level.bandwidth / 1e9, "GB/s");
    text += line("latency", 1e6 * level.latency, "us");
    if (!level.overlaps)
      text += "overlaps = false\n";
    text += "source = " + quoted(source) + "\n";
  }
  return text;
}

} // namespace weir::planner
