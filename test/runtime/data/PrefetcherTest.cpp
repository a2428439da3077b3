//===- PrefetcherTest.cpp - Batches read ahead ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Prefetcher.h"
#include "test/runtime/TestFiles.h"
#include <chrono>
#include <cstring>

namespace weir {
namespace {

class PrefetcherTest : public ::testing::Test {
protected:
  Dataset numbers(int64_t limit) {
    std::string tokens;
    for (uint16_t i = 0; i < 100; ++i)
      tokens += raw(i);
    return Dataset({{"n", Element::i32, {4, 1}, limit, ""}}, {{"n", folder.write("n.bin", tokens)}},
                   "--data");
  }
  TestFolder folder;
};

TEST_F(PrefetcherTest, GivesTheSteps) {
  Dataset dataset = numbers(100);
  Sampler sampler(1, true, dataset.units(), dataset.window(), 4);
  Prefetcher prefetcher(dataset, sampler, 4, {0, 1, 2, 3}, 5, 50);
  for (int64_t step = 5; step < 50; ++step) {
    const Batch &batch = prefetcher.next();
    for (int64_t row = 0; row < 4; ++row) {
      int32_t value;
      std::memcpy(&value, batch[0].data() + 4 * row, 4);
      EXPECT_EQ(value, sampler.at(step, row));
    }
  }
}

TEST_F(PrefetcherTest, ReadsTheRowsThatAreKept) {
  Dataset dataset = numbers(100);
  Sampler sampler(1, true, dataset.units(), dataset.window(), 4);
  Prefetcher prefetcher(dataset, sampler, 4, {1, 3}, 5, 50);
  for (int64_t step = 5; step < 50; ++step) {
    const Batch &batch = prefetcher.next();
    for (int64_t row = 0; row < 4; ++row) {
      int32_t value;
      std::memcpy(&value, batch[0].data() + 4 * row, 4);
      EXPECT_EQ(value, row % 2 ? sampler.at(step, row) : 0);
    }
  }
}

TEST_F(PrefetcherTest, EndsBeforeItsSteps) {
  Dataset dataset = numbers(100);
  Sampler sampler(1, true, dataset.units(), dataset.window(), 4);
  Prefetcher untouched(dataset, sampler, 4, {0, 1, 2, 3}, 0, 1000000);
  Prefetcher started(dataset, sampler, 4, {0, 1, 2, 3}, 0, 1000000);
  started.next();
  Prefetcher empty(dataset, sampler, 4, {0, 1, 2, 3}, 7, 7);
}

} // namespace
} // namespace weir
