//===- MachineRatesTest.cpp - How fast machines are -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/MachineRates.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

TEST(MeshRates, AreReadAndWritten) {
  const char *text = "271TFLOP/s,1.84TB/s,dp=24GB/s,3.5GB/s,7us,tp=235GB/s,235GB/s,11us";
  std::optional<MeshRates> rates = MeshRates::parse(text);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->rank.flopsPerSecond, 271e12);
  EXPECT_DOUBLE_EQ(rates->rank.bytesPerSecond, 1.84e12);
  EXPECT_DOUBLE_EQ(rates->along("dp").gather, 24e9);
  EXPECT_DOUBLE_EQ(rates->along("dp").exchange, 3.5e9);
  EXPECT_DOUBLE_EQ(rates->along("tp").latency, 11e-6);
  EXPECT_EQ(rates->text(), text);
}

TEST(MeshRates, HaveDefaults) {
  std::optional<MeshRates> none = MeshRates::parse("");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->rank.flopsPerSecond, machines::defaultRank.flopsPerSecond);
  std::optional<MeshRates> rank = MeshRates::parse("60GFLOP/s,8GB/s");
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->rank.flopsPerSecond, 60e9);
  EXPECT_EQ(rank->along("tp").gather, machines::defaultAxis.gather);
}

TEST(MeshRates, ThatAreNoneSayWhatIsExpected) {
  for (const char *text :
       {"fast", "60GFLOP/s", "60GFLOP/s,8GB/s,tp", "60GFLOP/s,8GB/s,tp=1GB/s,1us",
        "60GFLOP/s,8GB/s,=1GB/s,1GB/s,1us", "60GFLOP/s,8GB/s,1GB/s,1GB/s,1us",
        "60GFLOP/s,8GB/s,tp=1GB/s,1GB/s,1us,tp=1GB/s,1GB/s,1us", "8GB/s,60GFLOP/s"}) {
    EXPECT_FALSE(MeshRates::parse(text)) << text;
    EXPECT_NE(MeshRates::wrong(text).find("such as 400TFLOP/s,3TB/s,tp=50GB/s,50GB/s,5us"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(MeshRates::wrong("60GFLOP/s,8GB/s"), "");
}

/// Help texts and docs state these defaults.
TEST(Machines, DefaultsAreWhatHelpSays) {
  EXPECT_EQ(machines::defaultLink.text(), "10GB/s,20us");
  EXPECT_EQ(machines::defaultLink.secondsOf(5'000'000'000, 10'000'000'000), 1 + 20e-6);
  EXPECT_EQ(MeshRates().text(), "1000TFLOP/s,3.3TB/s");
  EXPECT_EQ(MeshRates().along("tp"), machines::defaultAxis);
}

/// On a CPU, host and device are one memory, and a copy reads and writes each byte.
TEST(Machines, CopiesOnACpuMoveEachByteTwice) {
  for (const DeviceRates &cpu : {machines::cpu256, machines::cpu512})
    for (double bytes : {0.0, 1.0, 3e9, 12345678.0})
      EXPECT_EQ(cpu.transferSeconds(bytes), cpu.kernels.secondsOf(0, 2 * bytes));
}

TEST(Machines, KernelsTakeTheLongerOfComputeAndMemory) {
  const Rates rates = machines::cudaSm90.kernels;
  EXPECT_EQ(rates.secondsOf(700e12, 1), 1);
  EXPECT_EQ(rates.secondsOf(1, 2.9e12), 1);
}

TEST(Machines, StageCostsAreFlops) {
  EXPECT_EQ(machines::stageCost(7, 3), 7 + machines::flopsPerByte * 3);
}

} // namespace
