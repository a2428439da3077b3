//===- WriteCluster.cpp - The text of a cluster's file ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/Cluster.h"
#include "runtime/base/Text.h"
#include "runtime/report/Number.h"

namespace weir::planner {
namespace {

/// A key and a figure with four digits: in thousands of bytes, FLOPs or parts of a second.
std::string line(const char *key, double figure, const char *unit) {
  return figure > 0 ? concat(key, " = \"", formatted("%.4g", figure), unit, "\"\n") : "";
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
  text += concat("name = \"", device.name, "\"\n", "target = \"", device.target, "\"\n",
                 "count = ", group.count, "\n");
  text += concat("memory = \"", device.memory / 1'000'000, "MB\"\n");
  text += line("bandwidth", device.bandwidth / 1e9, "GB/s");
  text += line("launch", 1e6 * device.launch, "us");
  text += line("host", device.hostBandwidth / 1e9, "GB/s");
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
  std::string kernels = line("elementwise", device.elementwise / 1e9, "GFLOP/s") +
                        line("attention", device.attention / 1e9, "GFLOP/s") +
                        line("convolution", device.convolution / 1e9, "GFLOP/s");
  text += kernels.empty() ? "" : "\n[devices.kernels]\n" + kernels;
  return text + "\n[devices.sources]\nfigures = \"" + source + "\"\n";
}

} // namespace

std::string textOf(const Cluster &cluster, const std::string &source) {
  std::string text = concat("name = \"", cluster.name, "\"\n");
  for (const DeviceGroup &group : cluster.groups)
    text += "\n" + textOf(group, source);
  for (const LinkLevel &level : cluster.levels) {
    text += concat("\n[[links]]\nname = \"", level.name, "\"\ndevices = ", level.devices, "\n");
    text += line("bandwidth", level.bandwidth / 1e9, "GB/s");
    text += line("latency", 1e6 * level.latency, "us");
    text += "source = \"" + source + "\"\n";
  }
  return text;
}

} // namespace weir::planner
