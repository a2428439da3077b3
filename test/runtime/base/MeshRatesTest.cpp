//===- MeshRatesTest.cpp - How fast the ranks of a mesh are ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/MeshRates.h"
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

TEST(MeshRates, OfWhatIsNotSaidAreTheUsual) {
  std::optional<MeshRates> none = MeshRates::parse("");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->rank.flopsPerSecond, MeshRates::usual.flopsPerSecond);
  std::optional<MeshRates> rank = MeshRates::parse("60GFLOP/s,8GB/s");
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->rank.flopsPerSecond, 60e9);
  EXPECT_EQ(rank->along("tp").gather, MeshRates::usualLinks.gather);
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

} // namespace
