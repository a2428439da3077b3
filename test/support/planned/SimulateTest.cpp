//===- SimulateTest.cpp - Several ranks by one clock ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Simulate.h"
#include <gtest/gtest.h>

using namespace weir::planned;

namespace {

using Kind = TimedAction::Kind;
using Ranks = std::vector<std::vector<TimedAction>>;

TimedAction work(double seconds) { return {.seconds = seconds}; }
TimedAction send(uint32_t to, uint32_t number, double seconds) {
  return {.kind = Kind::send, .seconds = seconds, .peer = to, .number = number};
}
TimedAction receive(uint32_t from, uint32_t number) {
  return {.kind = Kind::receive, .peer = from, .number = number};
}

TEST(Simulate, AReceiveWaitsForWhatIsSent) {
  EXPECT_EQ(secondsOf(Ranks{{work(3), send(1, 1, 2), work(1)}, {work(1), receive(0, 1), work(4)}}),
            3 + 2 + 4);
  // What is there already is not waited for.
  EXPECT_EQ(secondsOf(Ranks{{work(3), send(1, 1, 2)}, {work(9), receive(0, 1), work(4)}}), 13);
}

TEST(Simulate, OneSendGoesAfterTheOtherBetweenTwoRanks) {
  EXPECT_EQ(secondsOf(Ranks{{send(1, 1, 2), send(1, 2, 2), send(2, 3, 2)},
                            {receive(0, 2), work(1)},
                            {receive(0, 3), work(1)}}),
            5);
  EXPECT_EQ(secondsOf(Ranks{{send(1, 3, 2)}, {receive(0, 3), work(1)}}), 3);
}

TEST(Simulate, RanksThatWaitForEachOtherHaveNoEnd) {
  EXPECT_EQ(secondsOf(Ranks{{receive(1, 1), send(1, 2, 1)}, {receive(0, 2), send(0, 1, 1)}}),
            std::nullopt);
}

TEST(Simulate, TransfersTakeNothingWithoutCollectives) {
  Ranks ranks = {{work(3), send(1, 1, 2)}, {receive(0, 1), work(4)}};
  for (auto &rank : ranks)
    rank = withoutCollectives(rank);
  EXPECT_EQ(secondsOf(ranks), 7);
}

} // namespace
