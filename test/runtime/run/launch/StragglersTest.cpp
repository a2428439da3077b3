//===- StragglersTest.cpp - Which ranks keep the others waiting -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Stragglers.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

/// What `steps` such steps lead to, which is at most one change, at the last of them.
std::vector<Stragglers::Change> after(Stragglers &ranks, const std::vector<double> &seconds,
                                      int64_t steps) {
  for (int64_t step = 1; step < steps; ++step)
    EXPECT_TRUE(ranks.add(seconds).empty());
  return ranks.add(seconds);
}

} // namespace

TEST(Stragglers, AreNamedOnce) {
  Stragglers ranks;
  auto changes = after(ranks, {0.01, 0.011, 0.02, 0.012}, 50);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].rank, 2);
  EXPECT_TRUE(changes[0].isSlow);
  EXPECT_NEAR(changes[0].seconds, 0.02, 1e-9);
  EXPECT_NEAR(changes[0].median, 0.011, 1e-9);
  EXPECT_TRUE(after(ranks, {0.01, 0.011, 0.02, 0.012}, 200).empty());
  changes = after(ranks, {0.01, 0.01, 0.01, 0.01}, 50);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_FALSE(changes[0].isSlow);
  EXPECT_EQ(after(ranks, {0.01, 0.011, 0.02, 0.012}, 50).size(), 1u);
}

TEST(Stragglers, OneUsualStepIsEnough) {
  Stragglers ranks;
  for (int turn = 0; turn < 5; ++turn) {
    EXPECT_TRUE(after(ranks, {0.01, 0.02}, 49).empty());
    EXPECT_TRUE(ranks.add({0.01, 0.0149}).empty());
  }
}

TEST(Stragglers, ShortStepsSayNothing) {
  Stragglers ranks;
  EXPECT_TRUE(after(ranks, {0.0001, 0.001}, 100).empty());
}

TEST(Stragglers, OfTwoTheFasterIsTheMedian) {
  Stragglers ranks;
  auto changes = after(ranks, {0.03, 0.01}, 50);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].rank, 0);
  EXPECT_NEAR(changes[0].median, 0.01, 1e-9);
}
