//===- FitDeviceTest.cpp - A device's figures from what its work took ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/FitDevice.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::planner;

namespace {

/// A device whose work is to be recognized.
Device known() {
  Device device{.name = "core", .target = "cpu", .memory = 1'000'000'000, .bandwidth = 20e9};
  device.launch = 2e-6;
  device.hostBandwidth = 8e9;
  device.elementwise = 30e9;
  device.attention = 60e9;
  device.convolution = 90e9;
  device.products = {.rate = {{"bf16", 220e9}, {"f32", 110e9}}, .ramp = 16};
  return device;
}

Device guessed() {
  Device device{.name = "core", .target = "cpu", .memory = 1'000'000'000, .bandwidth = 8e9};
  device.products.rate["f32"] = 80e9;
  return device;
}

spec::Product square(int64_t n, int64_t k, Element factors) {
  spec::Product product;
  product.m = product.n = n;
  product.k = k;
  product.factors = factors;
  return product;
}

std::vector<MeasuredWork> workOn(const Device &device) {
  std::vector<MeasuredWork> all;
  for (double bytes : {100.0, 1e5, 1e6, 1e7})
    for (double perByte : {0.1, 1.0, 8.0})
      all.push_back({KernelWork{WorkKind::elementwise, perByte * bytes, bytes}});
  all.push_back({KernelWork{WorkKind::attention, 1e9, 1e6}});
  all.push_back({KernelWork{WorkKind::convolution, 1e9, 1e6}});
  for (Element element : {Element::f32, Element::bf16})
    for (int64_t k : {16, 64, 512})
      all.push_back({square(512, k, element)});
  for (MeasuredWork &one : all)
    one.seconds = device.launch + (std::holds_alternative<spec::Product>(one.work)
                                       ? secondsOf(device, std::get<spec::Product>(one.work))
                                       : secondsOf(device, std::get<KernelWork>(one.work), "f32"));
  return all;
}

TEST(FitDevice, FindsTheFiguresThatWorkWasMeasuredWith) {
  Device device = guessed(), of = known();
  fitDevice(device, workOn(of));
  auto near = [](double found, double is) { EXPECT_NEAR(found / is, 1, 0.02) << is; };
  near(device.bandwidth, of.bandwidth);
  near(device.launch, of.launch);
  near(device.elementwise, of.elementwise);
  near(device.attention, of.attention);
  near(device.convolution, of.convolution);
  near(device.products.rate["f32"], 110e9);
  near(device.products.rate["bf16"], 220e9);
  near(device.products.ramp, 16);
}

TEST(FitDevice, KeepsWhatWasNotMeasured) {
  Device device = guessed();
  fitDevice(device, {{square(512, 512, Element::f32), 1e-3}, {KernelWork{}, 0}});
  EXPECT_EQ(device.bandwidth, 8e9);
  EXPECT_EQ(device.attention, 0);
  EXPECT_EQ(device.launch, 0);
  EXPECT_NEAR(secondsOf(device, square(512, 512, Element::f32)), 1e-3, 2e-5);
}

TEST(FitDevice, FindsALinksLatencyAndBandwidth) {
  std::vector<MeasuredGather> measured;
  for (double bytes = 300; bytes < 1e8; bytes *= 4)
    measured.push_back({bytes, 3 * 20e-6 + bytes / 5e9});
  LinkLevel level;
  fitLinks(level, 4, measured);
  EXPECT_NEAR(level.latency / 20e-6, 1, 0.02);
  EXPECT_NEAR(level.bandwidth / 5e9, 1, 0.02);
}

TEST(WriteCluster, WritesWhatIsReadAgain) {
  Cluster cluster{.name = "here", .groups = {{known(), 4}}};
  cluster.levels = {{"memory", 2, 5e9, 2e-5}, {"wire", 4, 1e9, 1e-4}};
  std::string path = testing::TempDir() + "written.toml";
  std::ofstream(path) << textOf(cluster, "a test");
  Cluster read = readCluster(path);
  EXPECT_EQ(textOf(read, "a test"), textOf(cluster, "a test"));
  EXPECT_EQ(read.devices(), 4);
  EXPECT_DOUBLE_EQ(read.deviceOf(0).products.ramp, 16);
  EXPECT_DOUBLE_EQ(read.levels[1].latency, 1e-4);
}

TEST(WriteCluster, OneDeviceNeedsNoLinks) {
  Cluster cluster{.name = "here", .groups = {{known(), 1}}};
  std::string path = testing::TempDir() + "one.toml";
  std::ofstream(path) << textOf(cluster, "a test");
  EXPECT_EQ(readCluster(path).devices(), 1);
}

} // namespace
