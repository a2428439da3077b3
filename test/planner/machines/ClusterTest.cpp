//===- ClusterTest.cpp - Devices, links, and the files that say so ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/machines/Cluster.h"
#include "planner/machines/TomlTable.h"
#include "support/Error.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::planner;

namespace {

/// Two nodes of four devices: 100 and 10 bytes a second, latencies of 1 and 5 seconds.
Cluster nodes() {
  Cluster cluster = clusterOf("cpu", 8, {});
  cluster.levels = {{"inside", 4, 100, 1}, {"between", 8, 10, 5}};
  return cluster;
}

TEST(Cluster, GathersAroundARing) {
  // All within a node: three steps.
  EXPECT_DOUBLE_EQ(secondsToGather(nodes(), {4, 1}, 300), 3 * 1 + 300.0 / 100);
  // One of each node: a step between them.
  EXPECT_DOUBLE_EQ(secondsToGather(nodes(), {2, 4}, 300), 5 + 300.0 / 10);
  // All eight: four links join the nodes.
  EXPECT_DOUBLE_EQ(secondsToGather(nodes(), {8, 1}, 700), 3 * 1 + 5 + 700.0 / 40);
}

TEST(Cluster, EachPairExchangesItsOwn) {
  EXPECT_DOUBLE_EQ(secondsToExchange(nodes(), {4, 1}, 300), 3 * 1 + 300.0 / 100);
  // Four of seven others are in the other node.
  EXPECT_DOUBLE_EQ(secondsToExchange(nodes(), {8, 1}, 700), 3 * 1 + 5 + 400.0 / 10);
}

TEST(Cluster, SendsOverTheInnermostLinkThatJoinsThem) {
  EXPECT_DOUBLE_EQ(secondsToSend(nodes(), 0, 3, 200), 1 + 2);
  EXPECT_DOUBLE_EQ(secondsToSend(nodes(), 3, 4, 200), 5 + 20);
  EXPECT_DOUBLE_EQ(secondsToShift(nodes(), {8, 1}, 200), 5 + 20);
  EXPECT_DOUBLE_EQ(secondsToShift(nodes(), {2, 1}, 200), 1 + 2);
}

TEST(Cluster, KnownDevicesSayWhereEachFigureIsFrom) {
  for (const KnownDevice &known : knownDevices()) {
    EXPECT_NO_THROW(clusterOf(known.name, 1, {})) << known.name;
    TomlTable table = TomlTable::parse(known.text, known.name);
    TomlTable sources = table.table("sources");
    for (const std::string &key : table.keys())
      if (key != "sources" && key != "target") {
        EXPECT_TRUE(sources.has(key)) << known.name << ": " << key;
      }
  }
}

class Files : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             (std::string("weir-cluster-") + std::to_string(getpid()) + "-" +
              testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &text, const std::string &name = "c.toml") {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }

  /// What is said of a file, behind its folder.
  std::string wrong(const std::string &text) {
    try {
      readCluster(write(text));
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exit, Exit::usage);
      std::string what = failure.what();
      size_t at = what.find(folder.string());
      return at == std::string::npos ? what : what.erase(at, folder.string().size() + 1);
    }
    return "";
  }

  std::filesystem::path folder;
};

constexpr const char *links = "[[links]]\nbandwidth = \"25GB/s\"\nlatency = \"5us\"\n";

TEST_F(Files, AreRead) {
  write("target = \"cpu\"\nmemory = \"2GB\"\nbandwidth = \"9GB/s\"\nlaunch = \"1us\"\n"
        "[products]\nf32 = \"50GFLOP/s\"\n",
        "mine.toml");
  Cluster cluster = readCluster(write(
      "name = \"two kinds\"\n[[devices]]\nkind = \"cpu\"\ncount = 2\n[[devices]]\nfile = "
      "\"mine.toml\"\ncount = 6\nwatts = 12\n[[links]]\nname = \"near\"\ndevices = 4\nbandwidth "
      "= \"100GB/s\"\nlatency = \"1us\"\n" +
      std::string(links) + "[price]\ndevice-hour = 2\ncurrency = \"EUR\"\n"));
  EXPECT_EQ(cluster.name, "two kinds");
  EXPECT_EQ(cluster.devices(), 8);
  EXPECT_EQ(cluster.deviceOf(1).name, "cpu");
  EXPECT_EQ(cluster.deviceOf(2).name, "mine");
  EXPECT_EQ(cluster.deviceOf(2).memory, 2'000'000'000);
  EXPECT_EQ(cluster.deviceOf(2).products.rate.at("f32"), 50e9);
  EXPECT_EQ(cluster.deviceOf(7).watts, 12);
  EXPECT_EQ(cluster.levels.at(0).name, "near");
  EXPECT_EQ(cluster.levels.at(1).devices, 8);
  EXPECT_DOUBLE_EQ(cluster.levels.at(1).latency, 5e-6);
  EXPECT_EQ(cluster.price, 2);
}

TEST_F(Files, ThatAreWrongSayWhereAndWhatWasExpected) {
  std::string device = "[[devices]]\nkind = \"a100-80\"\ncount = 8\n";
  EXPECT_EQ(wrong("[[devices]\n"),
            "c.toml:1:11: invalid TOML: Error while parsing table header: expected ']', saw "
            "'\\n'");
  EXPECT_EQ(wrong(links), "c.toml:1:1: devices is missing: expected [[devices]] at least once");
  EXPECT_EQ(wrong("[[devices]]\nkind = \"a100-8O\"\n"),
            "c.toml:2:8: devices.kind: unknown device \"a100-8O\"; did you mean "
            "'a100-80'?");
  EXPECT_EQ(wrong(device + "memory = 80\n" + links),
            "c.toml:4:10: devices.memory: expected a number with its unit, such as \"80GB\", but "
            "found 80");
  EXPECT_EQ(wrong(device + "memory = \"80GB/s\"\n" + links),
            "c.toml:4:10: devices.memory: expected a number with its unit, such as \"80GB\", but "
            "found \"80GB/s\"");
  EXPECT_EQ(wrong("[[devices]]\nkind = \"cpu\"\ncount = 0\n" + std::string(links)),
            "c.toml:3:9: devices.count: expected a whole number of at least 1, but found 0");
  EXPECT_EQ(wrong("[[devices]]\nkind = \"cpu\"\ncuont = 2\n" + std::string(links)),
            "c.toml:3:9: devices.cuont: there is no such key; did you mean 'count'?");
  EXPECT_EQ(wrong(device), "c.toml:1:1: links is missing: expected [[links]] at least once");
  EXPECT_EQ(
      wrong(device + "[[links]]\ndevices = 4\nbandwidth = \"1GB/s\"\nlatency = "
                     "\"1us\"\n"),
      "c.toml:5:11: links.devices: the last [[links]] must join all 8 devices, but these join "
      "4: add the missing level, or remove `devices`");
  EXPECT_EQ(wrong(device + "[[links]]\nname = \"near\"\ndevices = 4\nbandwidth = "
                           "\"1GB/s\"\nlatency = \"1us\"\n[[links]]\ndevices = 6\nbandwidth = "
                           "\"1GB/s\"\nlatency = \"1us\"\n"),
            "c.toml:10:11: links.devices: expected a multiple of 4 that is more than 4, the "
            "devices that near joins, but found 6");
  EXPECT_EQ(wrong(device + "[[devices]]\nkind = \"cpu\"\ncount = 1\n" + links),
            "c.toml:1:1: devices: all devices must have the same target, but found \"cuda:sm_80\" "
            "and \"cpu\"");
  EXPECT_EQ(wrong("[[devices]]\ntarget = \"cpu\"\ncount = 1\n" + std::string(links)),
            "c.toml:1:1: devices.memory is missing: expected a number with its unit, such as "
            "\"80GB\"");
}

TEST_F(Files, MayHaveFiguresThatAreNothing) {
  write("target = \"cpu\"\nmemory = \"2GB\"\nbandwidth = \"9GB/s\"\nlaunch = \"0us\"\n"
        "[products]\nf32 = \"50GFLOP/s\"\n",
        "mine.toml");
  Cluster cluster =
      readCluster(write("[[devices]]\nfile = \"mine.toml\"\ncount = 2\n" + std::string(links)));
  EXPECT_EQ(cluster.deviceOf(0).launch, 0);
}

TEST_F(Files, ThatAreTooLarge) {
  EXPECT_EQ(wrong("[[devices]]\nkind = \"cpu\"\ncount = 131072\n" + std::string(links)),
            "c.toml:1:1: devices: expected 65536 at most, but found 131072");
  EXPECT_EQ(wrong("[[devices]]\nkind = \"cpu\"\ncount = 1\nmemory = \"99999999TB\"\n" +
                  std::string(links)),
            "c.toml:4:10: devices.memory: expected 1000TB at most");
}

TEST_F(Files, ThatAreNotThere) {
  EXPECT_THROW(readCluster((folder / "none.toml").string()), Failure);
  EXPECT_THROW(readCluster(folder.string()), Failure);
}

} // namespace
