//===- StepTermsTest.cpp - The terms of a step's estimate -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/StepTerms.h"
#include "strategy/Fields.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::planner;

namespace {

/// A strategy on devices with links of 1 GB/s, without latency, and a step with round figures: a
/// microbatch computes for 3 s and communicates for 1 s.
struct Step {
  explicit Step(const std::string &text, double microbatches = 1)
      : strategy(strategy::parsed(text)) {
    const AxisSizes sizes = AxisSizes::of(strategy.mesh);
    Device device{.memory = 1'000'000'000, .hostBandwidth = 1e9};
    device.products.rate["f32"] = 1e12;
    cluster.groups.push_back({device, sizes.ranks()});
    cluster.levels.push_back({"links", sizes.ranks(), 1e9, 0});
    shape.sizes = sizes;
    shape.microbatches = microbatches;
    shape.sample.body = 4;
    shape.sample.computing = 3;
    shape.sample.outside = 2;
    shape.sample.memory = {.parameters = 1'000'000'000, .optimizer = 2'000'000'000};
    shape.gradientBytes = 1e9;
  }

  Strategy strategy;
  Cluster cluster;
  StepShape shape{.strategy = strategy, .cluster = cluster};
};

TEST(StepTerms, AMicrobatchNeedsARowForEachRank) {
  std::string why;
  const Mesh mesh = std::get<Mesh>(Mesh::parse("dp=4,ep=2"));
  EXPECT_EQ(rowsOfFullestRank(mesh, 64, 2, why), 4);
  EXPECT_FALSE(rowsOfFullestRank(mesh, 64, 16, why));
  EXPECT_EQ(why,
            "a microbatch has 4 rows, too few for 8 ranks: expected at least one row per rank");
}

TEST(StepTerms, TheLargestShareOfRowsCounts) {
  std::string why;
  EXPECT_EQ(rowsOfFullestRank(std::get<Mesh>(Mesh::parse("dp=3:1")), 16, 1, why), 12);
}

TEST(StepTerms, GradientsAreF32) {
  EXPECT_EQ(gradientBytesOf(strategy::parsed("param-dtype=f32"), 100, 0.5), 50);
  EXPECT_EQ(gradientBytesOf(strategy::parsed("param-dtype=bf16"), 100, 0.5), 100);
}

/// Two chunks for each of two ranks, of which the second is half as fast.
TEST(StepTerms, StagesOfARankAreAdded) {
  StageTerm stage = stageTermOf({{0.25, 0.5}, {0.125, 0.25}, {0.25, 0}, {0.375, 0.25}}, 2, {1, 2});
  EXPECT_EQ(stage.work, 0.5);
  EXPECT_EQ(stage.slowest, 1);
  EXPECT_EQ(stage.mean, 0.75);
  EXPECT_EQ(stage.parameters, 0.5);
}

TEST(StepTerms, StagesWaitAndSend) {
  Step step("mesh=pp=2 overlap=off", 4);
  step.shape.rowsOfRank = 10;
  const StageTerm half{0.5, 0.5, 0.5, 0.5};
  // A row has 100 MB, so a send takes a second.
  PipelineTerm term = pipelineTerm(step.shape, half, 1, 0.25, 1e8);
  EXPECT_EQ(term.waiting, 0.25 * 4 * 4 * 0.5);
  EXPECT_EQ(term.sending, 2 + 4 * 2);
}

TEST(StepTerms, SendsOverlapWithWhatAStageComputes) {
  Step step("mesh=pp=2", 4);
  step.shape.rowsOfRank = 10;
  const StageTerm half{0.5, 0.5, 0.5, 0.5};
  EXPECT_EQ(pipelineTerm(step.shape, half, 1, 0.25, 1e8).sending, 2);
}

TEST(StepTerms, ZeroDividesTheUpdate) {
  EXPECT_EQ(updateTerm(Step("mesh=dp=4,cp=2").shape, {}), 2);
  EXPECT_EQ(updateTerm(Step("mesh=dp=4,cp=2 zero=1").shape, {}), 0.25);
}

/// Each collective moves half of 1 GB: half a second.
TEST(StepTerms, DataParallelVolumesAreThoseOfZero) {
  EXPECT_EQ(dataParallelTerm(Step("overlap=off").shape, {}), 0);
  EXPECT_EQ(dataParallelTerm(Step("mesh=dp=2 overlap=off").shape, {}), 1);
  EXPECT_EQ(dataParallelTerm(Step("mesh=dp=2 overlap=off zero=1").shape, {}), 1);
  EXPECT_EQ(dataParallelTerm(Step("mesh=dp=2 overlap=off zero=3", 4).shape, {}), 0.5 + 8 * 0.5);
}

/// An eighth at least is not overlapped.
TEST(StepTerms, BackwardHidesGradients) {
  EXPECT_EQ(dataParallelTerm(Step("mesh=dp=2").shape, {}), 0.125);
  Step brief("mesh=dp=2");
  brief.shape.sample.computing = 0.375;
  EXPECT_EQ(dataParallelTerm(brief.shape, {}), 0.75);
}

TEST(StepTerms, MicrobatchesInFlightAreThoseOfTheSchedule) {
  EXPECT_EQ(microbatchesInFlight(Step("mesh=dp=2", 8).shape, 1), 1);
  EXPECT_EQ(microbatchesInFlight(Step("mesh=pp=4", 8).shape, 1), 4);
  EXPECT_EQ(microbatchesInFlight(Step("mesh=pp=4", 2).shape, 1), 2);
  EXPECT_EQ(microbatchesInFlight(Step("mesh=pp=4 schedule=gpipe", 8).shape, 1), 8);
  EXPECT_EQ(microbatchesInFlight(Step("mesh=pp=4 schedule=interleaved", 8).shape, 2), 5.5);
}

TEST(StepTerms, MemoryIsDividedByZeroAndStages) {
  Step step("mesh=dp=2 zero=1");
  step.shape.sample.memory.scratch = 1000;
  step.shape.sample.kept = 600;
  step.shape.sample.passing = 300;
  RankMemory memory = memoryTerm(step.shape, {}, 1);
  EXPECT_EQ(memory.parameters, 1'000'000'000);
  EXPECT_EQ(memory.optimizer, 1'000'000'000);
  EXPECT_EQ(memory.scratch, 1000);
  memory = memoryTerm(step.shape, {.work = 0.5, .parameters = 0.25}, 1);
  EXPECT_EQ(memory.parameters, 250'000'000);
  EXPECT_EQ(memory.scratch, 25 + 300 + 300);
}

TEST(StepTerms, OffloadedVariablesAreReadAndWrittenOnce) {
  Step step("offload=optimizer");
  RankMemory memory = step.shape.sample.memory;
  EXPECT_EQ(offloadTerm(step.shape, memory), 4);
  EXPECT_EQ(memory.host, 2'000'000'000);
  EXPECT_EQ(memory.optimizer, 0);
  EXPECT_EQ(memory.parameters, 1'000'000'000);
  memory = step.shape.sample.memory;
  EXPECT_EQ(offloadTerm(Step("").shape, memory), 0);
}

TEST(StepTerms, AddUpToTheStep) {
  Step step("mesh=dp=2 overlap=off", 2);
  Prediction all = sumOfTerms(step.shape, oneStage(1), {.waiting = 5, .sending = 7});
  EXPECT_EQ(all.computing, 2 * 3 + 2);
  EXPECT_EQ(all.bubble, 5);
  EXPECT_EQ(all.exposed, 7 + 2 * 1 + 1);
  EXPECT_EQ(all.seconds, 2 * 4 + 5 + 2 + 7 + 1);
}

} // namespace
