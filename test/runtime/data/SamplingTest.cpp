//===- SamplingTest.cpp - Which rows a step reads -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Sampling.h"
#include "runtime/data/Philox.h"
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace weir {
namespace {

// The known answers that Random123, the authors' own code, is tested with.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(0xffffffffffffffff, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Permutation, IsOne) {
  for (uint64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 100, 1000, 9000}) {
    Permutation permutation(1, 0, n);
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < n; ++i) {
      EXPECT_LT(permutation(i), n);
      seen.insert(permutation(i));
    }
    EXPECT_EQ(seen.size(), n);
  }
}

TEST(Permutation, DiffersBySeedAndEpoch) {
  auto order = [](uint64_t seed, uint64_t epoch) {
    std::vector<uint64_t> rows;
    for (uint64_t i = 0; i < 50; ++i)
      rows.push_back(Permutation(seed, epoch, 50)(i));
    return rows;
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), order(2, 0));
}

TEST(Permutation, SpreadsRows) {
  // Each row is as often first as any other: chi-squared with 9 degrees of freedom stays below
  // its 99.99 % point.
  std::vector<int> first(10);
  for (uint64_t epoch = 0; epoch < 10000; ++epoch)
    ++first[Permutation(3, epoch, 10)(0)];
  double sum = 0;
  for (int count : first)
    sum += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(sum, 33.7);
}

TEST(Sampler, ArraysReadEachRowOnceAnEpoch) {
  Sampler sampler(1, true, 10, 0, 3);
  EXPECT_EQ(sampler.stepsPerEpoch(), 3);
  for (int epoch = 0; epoch < 5; ++epoch) {
    std::set<int64_t> seen;
    for (int step = 0; step < 3; ++step)
      for (int row = 0; row < 3; ++row)
        seen.insert(sampler.at(3 * epoch + step, row));
    EXPECT_EQ(seen.size(), 9u);
  }
}

TEST(Sampler, ArraysInTheFilesOrder) {
  Sampler sampler(1, false, 10, 0, 3);
  EXPECT_EQ(sampler.at(0, 2), 2);
  EXPECT_EQ(sampler.at(2, 0), 6);
  EXPECT_EQ(sampler.at(3, 0), 0);
}

TEST(Sampler, WindowsStartAnywhere) {
  Sampler sampler(1, true, 20, 5, 4);
  std::set<int64_t> seen;
  for (int step = 0; step < 200; ++step)
    for (int row = 0; row < 4; ++row)
      seen.insert(sampler.at(step, row));
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 15);
  EXPECT_EQ(seen.size(), 16u);
}

TEST(Sampler, ConsecutiveWindowsShareOneToken) {
  Sampler sampler(1, false, 13, 4, 2);
  EXPECT_EQ(consecutiveWindows(13, 4), 4);
  EXPECT_EQ(sampler.at(0, 0), 0);
  EXPECT_EQ(sampler.at(0, 1), 3);
  EXPECT_EQ(sampler.at(1, 1), 9);
  EXPECT_EQ(sampler.at(2, 0), 0);
}

TEST(Sampler, EveryTokenIsPredictedOnce) {
  int64_t tokens = 1000, window = 65;
  std::vector<int> predicted(tokens);
  for (int64_t i = 0; i < consecutiveWindows(tokens, window); ++i)
    for (int64_t t = 1; t < window; ++t)
      ++predicted.at(consecutiveStart(i, window) + t);
  int64_t covered = consecutiveWindows(tokens, window) * (window - 1);
  EXPECT_GT(covered + window, tokens);
  for (int64_t t = 0; t < tokens; ++t)
    EXPECT_EQ(predicted[t], t >= 1 && t <= covered) << t;
}

TEST(Sampler, IsAPureFunction) {
  Sampler one(7, true, 1000, 0, 10), other(7, true, 1000, 0, 10);
  int64_t late = one.at(123456, 7);
  other.at(3, 3);
  EXPECT_EQ(other.at(123456, 7), late);
}

} // namespace
} // namespace weir
