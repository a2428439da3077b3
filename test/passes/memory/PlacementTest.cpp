//===- PlacementTest.cpp - Where buffers lie in the arena -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Placement.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace weir;

namespace {

/// What the header says, buffer against buffer.
std::vector<int64_t> slowly(const std::vector<Lifetime> &buffers, int64_t base) {
  std::vector<size_t> order(buffers.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(-buffers[a].size, buffers[a].first) <
           std::pair(-buffers[b].size, buffers[b].first);
  });
  std::vector<int64_t> offsets(buffers.size());
  for (size_t i : order) {
    std::vector<size_t> met;
    for (size_t other : placed)
      if (buffers[other].first <= buffers[i].last && buffers[i].first <= buffers[other].last)
        met.push_back(other);
    std::sort(met.begin(), met.end(), [&](size_t a, size_t b) { return offsets[a] < offsets[b]; });
    int64_t at = base, best = -1, least = INT64_MAX;
    for (size_t other : met) {
      int64_t gap = offsets[other] - at;
      if (gap >= buffers[i].size && gap < least) {
        best = at;
        least = gap;
      }
      at = std::max(at, offsets[other] + buffers[other].size);
    }
    offsets[i] = best >= 0 ? best : at;
    placed.push_back(i);
  }
  return offsets;
}

TEST(Placement, IsThatOfTheSlowSearch) {
  std::mt19937 random(1);
  auto below = [&](int end) { return int64_t(random() % unsigned(end)); };
  for (int round = 0; round < 500; ++round) {
    int times = 1 + int(below(100)), sizes = 1 + int(below(20)), longest = 1 + int(below(times));
    std::vector<Lifetime> buffers(below(200));
    for (Lifetime &buffer : buffers) {
      buffer.first = below(times);
      buffer.last = std::min<int64_t>(times - 1, buffer.first + below(longest));
      buffer.size = 64 * (1 + below(sizes));
    }
    int64_t base = 64 * below(3);
    Placement placement = placeBuffers(buffers, base);
    ASSERT_EQ(placement.offsets, slowly(buffers, base));
    int64_t end = base;
    for (size_t i = 0; i < buffers.size(); ++i)
      end = std::max(end, placement.offsets[i] + buffers[i].size);
    ASSERT_EQ(placement.end, end);
  }
}

/// A step of layers, each with buffers of its own and some that are kept for the way back.
size_t stepsOf(int layers) {
  std::vector<Lifetime> buffers;
  constexpr int actions = 10;
  int64_t times = 2 * actions * layers;
  for (int64_t begin = 0; begin < times; begin += actions)
    for (int64_t i = 0; i < actions; ++i)
      buffers.push_back({begin + i, begin + i + 1 + i % 3, 64 * (1 + i * i % 7)});
  for (int64_t begin = 0; begin < times / 2; begin += actions)
    for (int64_t i = 0; i < 6; ++i)
      buffers.push_back({begin + i, times - begin - 1 - i, 64 * (1 + i * i % 5)});
  return placeBuffers(buffers, 0).steps;
}

TEST(Placement, TakesStepsInProportionToTheLayers) {
  // A tree that is higher by three goes with the eightfold.
  EXPECT_LT(stepsOf(800), 12 * stepsOf(100));
}

} // namespace
