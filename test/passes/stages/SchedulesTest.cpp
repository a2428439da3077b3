//===- SchedulesTest.cpp - Tables, and what they come to ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/stages/Schedules.h"
#include "strategy/Fields.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace weir::stages;

namespace {

constexpr const char *names[] = {"gpipe", "1f1b", "interleaved", "interleaved:3", "zero-bubble"};

Schedule named(const std::string &name) {
  return scheduleOf(*weir::strategy::parsed("schedule=" + name).schedule);
}

Pipe pipeOf(const Schedule &schedule, int64_t ranks, int64_t microbatches) {
  return {ranks, schedule.chunks, microbatches};
}

TEST(Schedules, EveryPartOfEveryMicrobatchIsThereOnce) {
  for (const char *name : names) {
    const Schedule schedule = named(name);
    for (int64_t ranks : {2, 3, 4, 8})
      for (int64_t microbatches : {ranks, 2 * ranks, 5 * ranks}) {
        Pipe pipe = pipeOf(schedule, ranks, microbatches);
        for (int64_t rank = 0; rank < ranks; ++rank) {
          std::set<std::tuple<int, int64_t, int64_t>> seen;
          for (const Slot &slot : schedule.order(pipe, rank))
            EXPECT_TRUE(seen.insert({slot.kind, slot.chunk, slot.microbatch}).second)
                << name << " does a part twice";
          EXPECT_EQ(int64_t(seen.size()),
                    microbatches * pipe.chunks * (schedule.splitsWeights ? 3 : 2));
        }
        EXPECT_TRUE(measure(schedule, pipe, {})) << name << " waits for ever";
      }
  }
}

/// Sums are made in the microbatches' order, so no bit depends on the schedule.
TEST(Schedules, GradientsComeInTheOrderOfMicrobatches) {
  for (const char *name : names) {
    const Schedule schedule = named(name);
    Pipe pipe = pipeOf(schedule, 4, 12);
    for (int64_t rank = 0; rank < 4; ++rank)
      for (Slot::Kind kind : {Slot::backward, Slot::weights})
        for (int64_t chunk = 0; chunk < pipe.chunks; ++chunk) {
          int64_t last = -1;
          for (const Slot &slot : schedule.order(pipe, rank))
            if (slot.kind == kind && slot.chunk == chunk) {
              EXPECT_EQ(slot.microbatch, last + 1) << name;
              last = slot.microbatch;
            }
        }
  }
}

/// (p - 1) / m of the papers, divided by the stages of a rank.
TEST(Schedules, TheBubbleIsThePapers) {
  for (const char *name : {"gpipe", "1f1b", "interleaved", "interleaved:3", "interleaved:8"}) {
    const Schedule schedule = named(name);
    for (int64_t ranks : {2, 4, 8})
      for (int64_t microbatches : {ranks, 4 * ranks}) {
        Pipe pipe = pipeOf(schedule, ranks, microbatches);
        double measured = measure(schedule, pipe, {1, 2, 0})->bubble(ranks);
        EXPECT_NEAR(measured, schedule.bubble(pipe), 1e-9)
            << name << " over " << ranks << " of " << microbatches;
        EXPECT_NEAR(measured, double(ranks - 1) / double(microbatches * pipe.chunks), 1e-9);
      }
  }
}

TEST(Schedules, ZeroBubbleWaitsHalfAsLongAtMostWithinTheActivations) {
  for (int64_t ranks : {2, 4, 8})
    for (int64_t microbatches : {2 * ranks, 4 * ranks}) {
      Pipe pipe{ranks, 1, microbatches};
      auto one = measure(named("1f1b"), pipe, {1, 2, 0});
      auto zero = measure(named("zero-bubble"), pipe, {1, 1, 1});
      EXPECT_LE(zero->bubble(ranks), 0.5 * one->bubble(ranks)) << ranks << " " << microbatches;
      EXPECT_LE(std::ranges::max(zero->mostInFlight), std::ranges::max(one->mostInFlight));
    }
}

TEST(Schedules, ActivationsAreAsThePapersSay) {
  Pipe pipe{4, 1, 12};
  EXPECT_EQ(measure(named("gpipe"), pipe, {})->mostInFlight,
            (std::vector<int64_t>{12, 12, 12, 12}));
  EXPECT_EQ(measure(named("1f1b"), pipe, {})->mostInFlight, (std::vector<int64_t>{4, 3, 2, 1}));
}

TEST(Schedules, GroupsHaveAMicrobatchForEachRank) {
  const Schedule schedule = named("interleaved");
  EXPECT_EQ(schedule.check({4, 2, 8}), "");
  EXPECT_EQ(
      schedule.check({4, 2, 6}),
      "--schedule interleaved runs groups of 4 microbatches, one per rank of --mesh pp=4, but a "
      "step has 6: expected --microbatches to be a multiple of 4");
}

/// Korthikanti et al., "Reducing activation recomputation in large transformer models", 2022, has
/// the first rank keep 1 + (p - 1) / (p v) times what 1F1B does: v parts to a microbatch, and one
/// that it has just begun.
TEST(Schedules, MoreStagesKeepMore) {
  for (int64_t chunks : {2, 3, 4}) {
    const Schedule schedule = named("interleaved:" + std::to_string(chunks));
    auto measured = measure(schedule, {4, chunks, 16}, {});
    ASSERT_TRUE(measured);
    EXPECT_EQ(measured->mostInFlight[0], 4 * chunks + 3);
  }
}

} // namespace
