//===- ReportsTest.cpp - What is told of a run ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/run/TrainFixture.h"
#include <csignal>
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
      "/dev/full: cannot write the metrics: No space left on device; training goes on";
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
