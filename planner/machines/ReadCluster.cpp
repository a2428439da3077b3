//===- ReadCluster.cpp - A cluster's file -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/Cluster.h"
#include "planner/machines/TomlTable.h"
#include "support/Error.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "support/Units.h"
#include "support/precision/Element.h"
#include <algorithm>
#include <filesystem>

namespace weir::planner {
namespace {

/// What products multiply: rates are given by these names.
const std::vector<std::string> multiplied = {"f32", "tf32", "bf16", "f16", "f8"};

/// The keys of a table that are such names; without any, what was there before.
void readRates(TomlTable &table, RateOf &rates) {
  for (const std::string &name : multiplied)
    if (table.has(name))
      rates[name] = table.measure(name, flopsPerSecondIn, "300TFLOP/s");
}

/// With `known`, figures that are there already are kept where the table does not have them.
void readDevice(TomlTable &table, Device &device, bool known) {
  auto kept = [&](double figure) { return known ? std::optional(figure) : std::nullopt; };
  device.target = table.text("target", known ? std::optional(device.target) : std::nullopt);
  double memory = table.measure("memory", bytesIn, "80GB", kept(double(device.memory)));
  if (constexpr double most = 1e15; memory > most)
    table.wrong("memory", "expected 1000TB at most");
  device.memory = int64_t(memory);
  device.bandwidth =
      table.measure("bandwidth", bytesPerSecondIn, "1800GB/s", kept(device.bandwidth));
  device.launch = table.measure("launch", secondsIn, "2us", kept(device.launch));
  device.hostBandwidth = table.measure("host", bytesPerSecondIn, "25GB/s",
                                       known ? device.hostBandwidth : device.bandwidth);
  device.watts = table.number("watts", 0, device.watts);
  TomlTable peak = table.table("peak"), products = table.table("products"),
            kernels = table.table("kernels");
  readRates(peak, device.peak);
  readRates(products, device.products.rate);
  if (!device.products.rate.contains("f32"))
    products.wrong("f32", "is missing: expected a rate of products, such as \"18TFLOP/s\"");
  ProductRates &rates = device.products;
  rates.units = products.integer("units", 1, rates.units);
  std::vector<int64_t> tile = products.integers("tile", 2, 1, {rates.tileRows, rates.tileColumns});
  rates.tileRows = tile[0], rates.tileColumns = tile[1];
  rates.ramp = products.number("ramp", 0, rates.ramp);
  if (constexpr int64_t most = 1 << 20;
      rates.units > most || rates.ramp > double(most) || std::max(tile[0], tile[1]) > most)
    products.wrong(rates.units > most          ? "units"
                   : rates.ramp > double(most) ? "ramp"
                                               : "tile",
                   concat("expected ", most, " at most"));
  for (auto [key, figure] :
       {std::pair("elementwise", &device.elementwise), std::pair("attention", &device.attention),
        std::pair("convolution", &device.convolution)})
    *figure = kernels.measure(key, flopsPerSecondIn, "10TFLOP/s", *figure);
  // What figures come from is for who reads the file.
  TomlTable sources = table.table("sources");
  for (const std::string &key : sources.keys())
    sources.text(key);
  for (const TomlTable *one : {&peak, &products, &kernels, &sources})
    one->requireAllRead();
}

std::vector<std::string> knownNames() {
  std::vector<std::string> names;
  for (const KnownDevice &known : knownDevices())
    names.push_back(known.name);
  return names;
}

std::optional<Device> knownDevice(const std::string &name) {
  for (const KnownDevice &known : knownDevices())
    if (name == known.name) {
      TomlTable table = TomlTable::parse(known.text, name + ".toml");
      Device device{.name = name};
      readDevice(table, device, false);
      table.requireAllRead();
      return device;
    }
  return std::nullopt;
}

DeviceGroup readGroup(TomlTable &table) {
  Device device;
  std::string kind = table.text("kind", ""), file = table.text("file", "");
  DeviceGroup group;
  if (!kind.empty() && !file.empty())
    table.wrong("file", "kind already describes the devices: remove one of the two");
  if (kind.empty() && file.empty() && !table.has("target"))
    table.wrong("kind", "is missing: expected " + join(knownNames()) +
                            ", or file = \"FILE.toml\", or a description here");
  if (!file.empty()) {
    std::filesystem::path folder = std::filesystem::path(table.file()).parent_path();
    group.file = (folder / file).string();
    TomlTable described = TomlTable::read(group.file);
    device.name = described.text("name", std::filesystem::path(file).stem().string());
    readDevice(described, device, false);
    described.requireAllRead();
  } else if (!kind.empty()) {
    if (auto known = knownDevice(kind))
      device = *known;
    else {
      std::string near = didYouMean(kind, knownNames());
      table.wrong("kind", "unknown device \"" + kind + "\"" +
                              (near.empty() ? ": expected " + join(knownNames()) +
                                                  ", or file = \"FILE.toml\""
                                            : near));
    }
  }
  device.name = table.text("name", device.name.empty() ? "device" : device.name);
  group.count = table.integer("count", 1);
  readDevice(table, device, !kind.empty() || !file.empty()); // what stands here is taken instead
  table.requireAllRead();
  group.device = std::move(device);
  return group;
}

void readLevels(TomlTable &table, Cluster &cluster) {
  int64_t all = cluster.devices();
  std::vector<TomlTable> tables = table.tables("links");
  for (TomlTable &link : tables) {
    bool last = &link == &tables.back();
    LinkLevel level{.name = link.text("name", concat("links ", cluster.levels.size() + 1))};
    level.devices = last ? link.integer("devices", 1, all) : link.integer("devices", 1);
    level.bandwidth = link.measure("bandwidth", bytesPerSecondIn, "25GB/s");
    level.latency = link.measure("latency", secondsIn, "5us");
    level.overlaps = link.truth("overlaps", true);
    link.text("source", "");
    link.requireAllRead();
    int64_t inner = cluster.levels.empty() ? 1 : cluster.levels.back().devices;
    if (level.devices % inner != 0 || (level.devices == inner && !cluster.levels.empty()))
      link.wrong("devices", inner >= all
                                ? concat(cluster.levels.back().name, " joins all ", all,
                                         " devices already: remove these [[links]]")
                                : concat("expected a multiple of ", inner, " that is more than ",
                                         inner, ", the devices that ", cluster.levels.back().name,
                                         " joins, but found ", level.devices));
    if (last && level.devices < all)
      link.wrong("devices",
                 concat("the last [[links]] must join all ", all, " devices, but these join ",
                        level.devices, ": add the missing level, or remove `devices`"));
    cluster.levels.push_back(std::move(level));
  }
  cluster.levels.back().devices = std::max(all, cluster.levels.back().devices);
}

} // namespace

Cluster readCluster(const std::string &path) {
  TomlTable table = TomlTable::read(path);
  Cluster cluster{.name = table.text("name", std::filesystem::path(path).stem().string())};
  for (TomlTable &group : table.tables("devices"))
    cluster.groups.push_back(readGroup(group));
  for (const DeviceGroup &group : cluster.groups)
    if (group.device.target != cluster.groups.front().device.target)
      table.wrong("devices", "all devices must have the same target, but found \"" +
                                 cluster.groups.front().device.target + "\" and \"" +
                                 group.device.target + "\"");
  constexpr int64_t most = 65536; // ranks of a mesh (support/mesh/Mesh.h)
  if (cluster.devices() > most)
    table.wrong("devices", concat("expected ", most, " at most, but found ", cluster.devices()));
  if (cluster.devices() > 1 || table.has("links"))
    readLevels(table, cluster);
  TomlTable price = table.table("price");
  cluster.price = price.number("device-hour", 0, 0);
  cluster.currency = price.text("currency", "");
  price.requireAllRead();
  table.requireAllRead();
  return cluster;
}

Cluster clusterOf(const std::string &device, int64_t count, const LinkLevel &link) {
  Cluster cluster{.name = device};
  cluster.groups.push_back({*knownDevice(device), count});
  cluster.levels.push_back(link);
  cluster.levels.back().devices = count;
  return cluster;
}

} // namespace weir::planner
