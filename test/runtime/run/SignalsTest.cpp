//===- SignalsTest.cpp - Runs that a signal ends --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Signals.h"
#include "runtime/core/Observer.h"
#include "runtime/core/Program.h"
#include "support/Text.h"
#include "test/runtime/run/TrainFixture.h"
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace weir {
namespace {

TEST_F(Train, StopsOnASignal) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    SCOPED_TRACE(signal);
    RunOptions all = options("a" + std::to_string(signal));
    all.steps = 100000000;
    all.every = 100000000;
    pid_t child = started(all);
    kill(child, signal);
    if (signal != SIGTERM && signal != SIGINT)
      kill(child, signal); // a terminal and its shell both say so
    int status;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 75);
    EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().size(), 1u);
    EXPECT_TRUE(says(readAll(all.metrics), {"\"event\":\"stop\""}));
  }
}

/// A terminal and its shell both say so, and the second may come when all is saved.
TEST(Signals, WhatHasComeMayComeAgainBehindTheRun) {
  pid_t child = fork();
  if (child == 0) {
    {
      Signals signals;
      kill(getpid(), SIGXCPU);
      while (!signals.received())
        usleep(100);
    }
    raise(SIGXCPU);
    _exit(7);
  }
  int status;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

/// Handled when it returns: the thread of a run takes no signals.
void interrupt() {
  std::thread([] {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(SIGUSR1);
  }).join();
}

/// Raises a signal before an entry's run of that number.
struct Interrupting : Observer {
  Interrupting(Program &program, const std::string &name, int run) : program(program), left(run) {
    while (program.plan().entries()->Get(entry)->name()->str() != name)
      ++entry;
    program.observe(this);
  }
  ~Interrupting() override { program.observe(nullptr); }
  void before(const ActionPlace &place) override {
    if (place.entry == entry && --left == 0)
      interrupt();
  }
  void after(const ActionPlace &) override {}
  Program &program;
  int left;
  uint32_t entry = 0;
};

TEST_F(Train, ASignalDoesNotWaitForAnEvaluation) {
  for (auto [entry, run, step] : {std::tuple("step", 10, 10), {"eval", 2, 10}, {"eval", 7, 20}}) {
    SCOPED_TRACE(concat(entry, " ", run));
    RunOptions all = options(concat(entry, run));
    all.holdout = 0.1; // five batches
    all.evalEvery = 10;
    all.attach = [&, entry = entry, run = run](Program &program) {
      return std::make_shared<Interrupting>(program, entry, run);
    };
    EXPECT_EQ(this->run(all), Exit::requeue);
    EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps(), std::vector<int64_t>{step});
    std::string told = readAll(all.metrics);
    EXPECT_TRUE(says(told, {"{\"event\":\"stop\","}));
    EXPECT_EQ(told.find(concat("{\"event\":\"eval\",\"step\":", step)), told.npos);
  }
}

TEST_F(Train, ASignalInTheLastEvaluationLeavesItForLater) {
  RunOptions all = options("a");
  all.holdout = 0.1;
  all.gradients = folder / "a.safetensors";
  all.attach = [](Program &program) { return std::make_shared<Interrupting>(program, "eval", 2); };
  EXPECT_EQ(run(all), Exit::requeue);
  EXPECT_TRUE(says(err, {"SIGUSR1: stopped after step 30", "run the same command with --resume"}));
  EXPECT_TRUE(std::filesystem::file_size(all.gradients) > 0);
  all.gradients = "";
  all.attach = nullptr;
  all.resume = true;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(out, {"steps 30\n", "heldout_loss "}));
}

TEST_F(Train, WithoutADirectoryASignalEndsTheRun) {
  RunOptions all = options("a");
  all.steps = 100000000;
  all.checkpoint = "";
  pid_t child = started(all);
  kill(child, SIGINT);
  int status;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST_F(Train, StopsOnASignalWhileLoading) {
  RunOptions all = options("a");
  all.steps = 100000000;
  all.every = 100000000;
  all.resume = true;
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], STDERR_FILENO);
    close(pipes[0]);
    _exit(static_cast<int>(runTraining(testModel(), all)));
  }
  close(pipes[1]);
  // "no checkpoint in ... yet" comes before the data are opened.
  char byte;
  EXPECT_EQ(read(pipes[0], &byte, 1), 1);
  kill(child, SIGTERM);
  while (read(pipes[0], &byte, 1) > 0) {
  }
  close(pipes[0]);
  int status;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 75);
  EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().size(), 1u);
}

} // namespace
} // namespace weir
