//===- ReplayTest.cpp - Steps that are run again --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/run/TrainFixture.h"

namespace weir {
namespace {

TEST_F(Train, TracesAStepThatIsNotFinite) {
  RunOptions all = withOddToken("a", 20, 9);
  all.every = 2;
  std::string aborted = refused(Exit::numeric, all);
  std::string bits = kept("a"), steps = metrics("a");
  all.checkpoint = folder / "b";
  all.metrics = folder / "b.jsonl";
  all.nan = "trace";
  EXPECT_EQ(refused(Exit::numeric, all).substr(0, 20), aborted.substr(0, 20));
  EXPECT_TRUE(says(
      err,
      {"step 5: the first non-finite value is computed by action 0 of 1, launch of step, map\n",
       "it writes buffer ", ": 1 inf of 1 element"}));
  EXPECT_EQ(err.find("gives a different result"), std::string::npos) << err;
  EXPECT_EQ(kept("b"), bits);
  EXPECT_EQ(metrics("b"), steps);
}

TEST_F(Train, ReplaysSteps) {
  RunOptions all = withOddToken("a", 20, 9);
  all.every = 2;
  refused(Exit::numeric, all);
  std::string bits = kept("a");
  all.metrics = "";
  all.replay = 4;
  all.json = true;
  EXPECT_EQ(run(all), Exit::ok);
  std::string line = metrics("a");
  line = line.substr(line.find("{\"step\":4,"));
  line = line.substr(0, line.find(",\"skipped\""));
  EXPECT_TRUE(says(out, {line}));
  EXPECT_TRUE(says(err, {"replaying after step 2 from ", "step 4 is finite; its largest tensors"}));
  all.replay = 5;
  EXPECT_TRUE(says(refused(Exit::numeric, all), {"step 5: loss inf"}));
  EXPECT_TRUE(says(err, {"step 5: the first non-finite value is computed by action 0"}));
  EXPECT_EQ(out, "");
  EXPECT_EQ(kept("a"), bits);
}

TEST_F(Train, ReplaysBehindASkippedStep) {
  RunOptions all = withOddToken("a", 20, 9);
  all.nan = "skip";
  all.every = 4;
  all.steps = 10;
  EXPECT_EQ(run(all), Exit::ok);
  std::string line = metrics("a");
  line = line.substr(line.find("{\"step\":7,"));
  line = line.substr(0, line.find(",\"skipped\""));
  all = withOddToken("a", 20, 9);
  all.metrics = folder / "again.jsonl";
  all.replay = 7;
  all.json = true;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(out, {line}));
  EXPECT_TRUE(says(metrics("again"), {"{\"step\":5,", line}));
}

TEST_F(Train, ReplayingWhatIsNotThere) {
  RunOptions all = options("a");
  all.replay = 5;
  EXPECT_TRUE(says(refused(Exit::usage, all), {"--replay 5: found no checkpoint in "}));
  all.replay = 0;
  all.every = 10;
  EXPECT_EQ(run(all), Exit::ok);
  all.replay = 10;
  EXPECT_TRUE(says(refused(Exit::usage, all), {"--replay 10: the oldest checkpoint in ",
                                               " was saved after step 10: step 11 is"}));
  all.replay = 31;
  EXPECT_TRUE(says(refused(Exit::usage, all), {"--replay 31: the run in ", " has 30 steps"}));
  all.replay = 0;
  all.change = {"data"};
  EXPECT_TRUE(says(refused(Exit::usage, all), {"--change requires --resume or --replay"}));
}

TEST_F(Train, TracingWhatDoesNotSayWhatItReads) {
  RunOptions all = options("a");
  all.nan = "trace";
  auto old = testModel("weights", "gradient/weights", [](artifact::ProgramT &program) {
    for (auto &kernel : program.kernels)
      kernel->tensors.clear();
  });
  EXPECT_TRUE(
      says(messageOf(Exit::model, [&] { run(all, old); }),
           {"--nan trace: the artifact is from an older version of Weir", "compile it again"}));
}

} // namespace
} // namespace weir
