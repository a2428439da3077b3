//===- SkippedStepsTest.cpp - Runs with steps that are not finite ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/SafeTensors.h"
#include "test/runtime/run/TrainFixture.h"
#include <cmath>

namespace weir {
namespace {

TEST_F(Train, NotFinite) {
  RunOptions all = withOddToken("a", 20, 9);
  all.every = 2;
  EXPECT_TRUE(
      says(refused(Exit::numeric, all), {"step 5: loss inf", "--nan skip", "step-00000004"}));
  all.checkpoint = folder / "b";
  all.nan = "skip";
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(out, {"skipped_steps "}));
}

TEST_F(Train, ManyStepsInARowThatAreNotFinite) {
  std::string tokens;
  for (uint16_t i = 0; i < 400; ++i)
    tokens += raw(static_cast<uint16_t>(i < 12 ? i % 5 : 9));
  RunOptions all = options("a");
  all.data = {"window=" + folder.write("t.bin", tokens)};
  all.noShuffle = true;
  all.nan = "skip";
  all.every = 4;
  EXPECT_TRUE(says(refused(Exit::numeric, all),
                   {"step 22: loss inf", "like the 19 steps before it", "--nan-limit"}))
      << "of step 3 and all after it";
  // Where the run goes on, so does the count.
  all.resume = true;
  EXPECT_TRUE(says(refused(Exit::numeric, all), {"step 22: ", "like the 19 steps before it"}));
  EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().front(), 20);
  all.checkpoint = folder / "b";
  all.nanLimit = 29;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(out, {"skipped_steps 28\n"}));
}

TEST_F(Train, NothingLearntIsNoSuccess) {
  std::string tokens;
  for (uint16_t i = 0; i < 40; ++i)
    tokens += raw(static_cast<uint16_t>(9));
  RunOptions all = options("a");
  all.data = {"window=" + folder.write("t.bin", tokens)};
  all.nan = "skip";
  all.steps = 5;
  EXPECT_TRUE(says(refused(Exit::numeric, all),
                   {"Weir skipped each of the 5 steps", "the model learned nothing"}));
  EXPECT_TRUE(says(out, {"skipped_steps 5\n"}));
  all.resume = all.extend = true;
  all.steps = 6;
  EXPECT_TRUE(says(refused(Exit::numeric, all), {"each of the 6 steps"}));
  for (uint16_t i = 0; i < 40; ++i)
    tokens[2 * i] = static_cast<char>(i % 5);
  all.change = {"data"};
  folder.write("t.bin", tokens);
  all.steps = 7;
  EXPECT_EQ(run(all), Exit::ok);
}

TEST_F(Train, ALimitOfSkippedStepsIsOfSkipping) {
  RunOptions all = options("a");
  all.nanLimit = 3;
  EXPECT_TRUE(says(refused(Exit::usage, all), {"--nan-limit", "add --nan skip"}));
  EXPECT_FALSE(std::filesystem::exists(all.checkpoint));
}

TEST_F(Train, BeginsWithWhatIsNotFinite) {
  auto begin = [&](const char *name) {
    const float values[] = {0, 0, -INFINITY, 0};
    std::string path = folder / (std::string(name) + ".safetensors");
    FileWriter writer(disk, path);
    writeSafeTensors(writer, {{name, "F32", {4}, reinterpret_cast<const std::byte *>(values), 16}});
    writer.finish();
    return path;
  };
  RunOptions all = options("a");
  all.init = begin("weights");
  for (const char *nan : {"abort", "skip"}) {
    all.nan = nan;
    EXPECT_TRUE(says(refused(Exit::numeric, all),
                     {"step 1: loss inf", "'weights' is -inf at [2] in " + all.init,
                      "from which no step is finite"}));
    EXPECT_TRUE(says(err, {"warning: 'weights' is -inf at [2]", "every step that computes such"}));
    EXPECT_TRUE(CheckpointStore(all.checkpoint, 3, disk).steps().empty());
  }
  // What no step writes stays.
  RunOptions masked = options("b");
  masked.initPartial = begin("mask");
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(runTraining(testModel("weights", "gradient/weights",
                                  [](artifact::ProgramT &p) {
                                    auto mask =
                                        std::make_unique<artifact::VariableT>(*p.variables[0]);
                                    mask->name = "mask";
                                    mask->offset = p.devices[0]->persistent;
                                    p.variables.push_back(std::move(mask));
                                    p.devices[0]->persistent += 64;
                                    for (auto &entry : p.entries)
                                      for (auto &buffer : entry->buffers)
                                        buffer->offset += 64;
                                    p.devices[0]->arena += 64;
                                  }),
                        masked),
            Exit::ok);
  ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(says(::testing::internal::GetCapturedStderr(),
                   {"warning: 'mask' is -inf at [2] in " + masked.initPartial,
                    "no step updates it, so it stays as it is"}));
}

TEST_F(Train, WhatIsNotFiniteIsNotSaved) {
  RunOptions all = withOddToken("a", 13, 8);
  all.every = 1;
  EXPECT_TRUE(says(refused(Exit::numeric, all),
                   {"step 4: 'weights' is nan at [0]", "Weir does not save it", "step-00000003"}));
  EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().front(), 3);
}

} // namespace
} // namespace weir
