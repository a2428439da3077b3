//===- ReportsTest.cpp - What is told of a run ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/run/TrainFixture.h"
#include <csignal>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir {
namespace {

TEST_F(Train, NobodyReadsWhatItSays) {
  RunOptions all = options("a");
  pid_t child = fork();
  if (child == 0) {
    int pipes[2];
    if (pipe(pipes) != 0)
      _exit(1);
    close(pipes[0]);
    dup2(pipes[1], STDOUT_FILENO);
    dup2(pipes[1], STDERR_FILENO);
    _exit(static_cast<int>(runTraining(testModel(), all)));
  }
  int status;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().front(), 30);
}

TEST_F(Train, LostMetricsEndNoRun) {
  RunOptions all = options("a");
  all.metrics = "/dev/full";
  EXPECT_EQ(run(all), Exit::ok);
  std::string told =
      "/dev/full: cannot write the metrics: No space left on device; training continues";
  EXPECT_TRUE(says(err, {told}));
  EXPECT_EQ(err.find(told, err.find(told) + 1), std::string::npos) << "told once";
  EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().front(), 30);
}

TEST_F(Train, LostEventsEndNoRun) {
  RunOptions all = options("a");
  all.checkpoint = all.metrics = "";
  all.tensorboard = folder / "events";
  pid_t child = fork();
  if (child == 0) {
    rlimit little{1000, 1000};
    std::signal(SIGXFSZ, SIG_IGN); // as in every program (tools/common/CommandLine.h)
    if (!freopen("/dev/null", "w", stderr) || setrlimit(RLIMIT_FSIZE, &little) != 0)
      _exit(1);
    _exit(static_cast<int>(runTraining(testModel(), all)));
  }
  int status;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// What the profile in the JSON results says of a step's milliseconds.
double milliseconds(const nlohmann::json &profile, bool actions, bool rest) {
  double sum = 0;
  if (actions)
    for (const nlohmann::json &action : profile["actions"])
      sum += action["ms"].get<double>();
  if (rest)
    for (const auto &part : profile["no_action"])
      sum += part.get<double>();
  return sum;
}

TEST_F(Train, Profiles) {
  RunOptions all = options("a");
  all.profile = all.json = true;
  all.holdout = 0.1;
  all.evalEvery = 5; // no part of a step
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(
      err, {"Profile of 29 steps, all but the first: ", " step, map", "no action  ", " a step\n"}));
  nlohmann::json profile = nlohmann::json::parse(out)["profile"];
  EXPECT_EQ(profile["steps"], 29);
  EXPECT_EQ(profile["actions"].at(0)["runs"], 1);
  double step = profile["step_ms"];
  EXPECT_NEAR(milliseconds(profile, true, true), step, 0.001 * step);
  EXPECT_LT(milliseconds(profile, true, false), step);
  // The steps' own times, of which those of waiting and reporting are no part.
  std::istringstream lines(readAll(all.metrics));
  double measured = 0;
  for (std::string line; std::getline(lines, line);)
    if (auto record = nlohmann::json::parse(line); record.contains("step_ms") && record["step"] > 1)
      measured += record["step_ms"].get<double>() / 29;
  EXPECT_GT(measured, 0);
  EXPECT_LT(measured, 1.05 * step);
  EXPECT_LT(milliseconds(profile, true, false), 1.05 * measured);
}

TEST_F(Train, ProfilesASingleStep) {
  RunOptions all = options("a");
  all.profile = true;
  all.steps = 1;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(err, {"Profile of the first step, which takes longer than others: "}));
  all.resume = true;
  all.json = true;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(err, {"--profile: there was no step left to run, so there is no profile"}));
  EXPECT_EQ(out.find("profile"), std::string::npos);
}

TEST_F(Train, ProfilesWhatEndsEarly) {
  RunOptions all = withOddToken("a", 20, 9);
  all.profile = true;
  refused(Exit::numeric, all);
  EXPECT_TRUE(says(err, {"Profile of ", " a step\n"}));
}

TEST_F(Train, TracesAndProfiles) {
  RunOptions all = options("a");
  all.trace = folder / "trace.json";
  all.profile = true;
  run(all);
  EXPECT_TRUE(says(readAll(all.trace), {"\"cat\":\"step\"", "\"name\":\"launch of step, map\""}));
  EXPECT_TRUE(says(err, {"Profile of 29 steps"}));
}

TEST_F(Train, Traces) {
  RunOptions all = options("a");
  all.trace = folder / "trace.json";
  run(all);
  EXPECT_TRUE(says(readAll(all.trace), {"\"traceEvents\":[", "\"cat\":\"step\"",
                                        "\"name\":\"launch of step, map\"", "\"dur\":", "\n]}\n"}));
  all = options("b");
  all.trace = folder / "absent/trace.json";
  EXPECT_TRUE(says(refused(Exit::storage, all), {"absent/trace.json"}));
}

} // namespace
} // namespace weir
