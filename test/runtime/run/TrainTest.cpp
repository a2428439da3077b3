//===- TrainTest.cpp - Whole runs of a small model ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Train.h"
#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/core/Observer.h"
#include "runtime/core/Program.h"
#include "runtime/core/Text.h"
#include "test/runtime/run/TestModel.h"
#include <cmath>
#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace weir {
namespace {

class Train : public ::testing::Test {
protected:
  Train() {
    std::string text;
    for (int i = 0; i < 200; ++i)
      text += static_cast<char>("abcde"[i * i % 7 % 5]);
    data = "window=" + folder.write("text.txt", text);
  }
  RunOptions options(const std::string &name) {
    RunOptions options;
    options.data = {data};
    options.threads = 1;
    options.checkpoint = folder / name;
    options.metrics = folder / (name + ".jsonl");
    return options;
  }
  Exit run(const RunOptions &options) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    struct Captured {
      Train &test;
      ~Captured() {
        test.out = ::testing::internal::GetCapturedStdout();
        test.err = ::testing::internal::GetCapturedStderr();
      }
    } captured{*this};
    return runTraining(testModel(), options);
  }
  std::string refused(Exit exit, const RunOptions &options) {
    return messageOf(exit, [&] { run(options); });
  }
  /// The newest checkpoint's tensors.
  std::string kept(const std::string &name) {
    CheckpointStore store(folder / name, 3, disk);
    std::string path = store.pathOf(store.steps().at(0));
    return readAll(path + "/model.safetensors") + readAll(path + "/state.safetensors");
  }
  /// The metrics without the times.
  std::string metrics(const std::string &name) {
    std::istringstream in(readAll(folder / (name + ".jsonl")));
    std::string text;
    for (std::string line; std::getline(in, line);)
      text += line.substr(0, std::min(line.find(",\"step_ms\""), line.find(",\"seconds\""))) + "\n";
    return text;
  }
  TestFolder folder;
  Disk disk;
  std::string data, out, err;
};

TEST_F(Train, ReportsAndKeeps) {
  RunOptions all = options("a");
  all.holdout = 0.1;
  all.evalEvery = 10;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(out, {"steps 30\n", "loss ", "heldout_loss ", "heldout_hits "}));
  EXPECT_TRUE(says(
      err, {"four: 4 parameters, 1 thread, 30 steps of 2 rows; 180 tokens to train on, 20 held out",
            "step 30/30"}));
  EXPECT_TRUE(says(metrics("a"), {"{\"step\":1,\"loss\":", ",\"lr\":0.1",
                                  ",\"grad_norm\":", "{\"event\":\"eval\",\"step\":10,",
                                  "{\"event\":\"done\",\"step\":30,\"steps\":30,"}));
}

TEST_F(Train, HeldOutTokensCountOnce) {
  // Of "aababbaab" (numbers 0 and 1) the windows [aab][bab]… predict the tokens 1 to 8; 9 tokens
  // need one batch of 2 windows twice; with 7 tokens the third window goes through eval_one.
  for (auto [text, sum] : {std::pair("aababbaab", 4.0), std::pair("aababba", 3.0)}) {
    RunOptions all = options("h");
    all.checkpoint = all.metrics = "";
    all.data = {"window=" + folder.write("train.txt", "abababab")};
    all.evalData = {"window=" + folder.write("held.txt", text)};
    all.json = true;
    EXPECT_EQ(run(all), Exit::ok);
    double count = static_cast<double>(strlen(text) - 1), mean = sum / count;
    std::ostringstream value;
    value.precision(9);
    value << "\"heldout_loss\":" << mean;
    EXPECT_TRUE(says(out, {value.str()}));
  }
}

TEST_F(Train, SameSeedSameBits) {
  run(options("a"));
  run(options("b"));
  EXPECT_EQ(kept("a"), kept("b"));
  EXPECT_EQ(metrics("a"), metrics("b"));
  RunOptions other = options("c");
  other.seed = 2;
  run(other);
  EXPECT_NE(kept("a"), kept("c"));
}

TEST_F(Train, ResumesExactly) {
  run(options("whole"));
  // Dies as if killed: the child ends in the middle of the run, with checkpoints every 4 steps.
  RunOptions part = options("part");
  part.every = 4;
  part.resume = true;
  for (int death = 0; death < 3; ++death) {
    pid_t child = fork();
    if (child == 0) {
      RunOptions slow = part;
      slow.metrics = folder / "part.jsonl";
      if (!freopen("/dev/null", "w", stderr))
        _exit(1);
      // The metrics go to the parent through a file; a watcher thread kills at a later step each
      // time.
      std::thread([&] {
        while (readAll(slow.metrics).find("\"step\":" + std::to_string(7 * (death + 1))) ==
               std::string::npos)
          usleep(100);
        kill(getpid(), SIGKILL);
      }).detach();
      runTraining(testModel(), slow);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
  }
  EXPECT_EQ(run(part), Exit::ok);
  EXPECT_EQ(kept("part"), kept("whole"));
  // A run that was whole before it was killed has no last step of its own to report.
  auto steps = [&](const std::string &name) {
    return metrics(name).substr(0, metrics(name).find("{\"event\""));
  };
  EXPECT_EQ(steps("part"), steps("whole"));
}

TEST_F(Train, ResumesWithMoreSteps) {
  RunOptions first = options("a");
  first.steps = 10;
  run(first);
  RunOptions more = options("a");
  more.resume = true;
  more.steps = 20;
  EXPECT_TRUE(says(refused(Exit::usage, more), {"10 steps, now 20", "--extend"}));
  more.extend = true;
  EXPECT_EQ(run(more), Exit::ok);
  EXPECT_TRUE(says(out, {"steps 20\n"}));
}

TEST_F(Train, ResumedWithAnotherRecipe) {
  run(options("a"));
  RunOptions resume = options("a");
  resume.resume = true;
  std::vector<std::byte> longer =
      testModel("weights", "gradient/weights", [](artifact::ProgramT &p) { p.steps = 40; });
  auto go = [&] {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Exit exit = runTraining(longer, resume);
    out = ::testing::internal::GetCapturedStdout();
    err = ::testing::internal::GetCapturedStderr();
    return exit;
  };
  EXPECT_EQ(go(), Exit::ok);
  EXPECT_TRUE(says(err, {"the recipe asks for 40 steps; the run goes on for the 30 that it was "
                         "begun for (--extend takes the recipe's)"}));
  EXPECT_TRUE(says(out, {"steps 30\n"}));
  resume.extend = true;
  EXPECT_EQ(go(), Exit::ok);
  EXPECT_FALSE(says(err, {"the recipe asks"}));
  EXPECT_TRUE(says(out, {"steps 40\n"}));
}

TEST_F(Train, ResumesInAnEmptyDirectory) {
  RunOptions all = options("a");
  all.resume = true;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(err, {"no checkpoint in ", "starting from step 0"}));
}

TEST_F(Train, StopsOnASignal) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    SCOPED_TRACE(signal);
    RunOptions all = options("a" + std::to_string(signal));
    all.steps = 100000000;
    all.every = 100000000;
    pid_t child = fork();
    if (child == 0) {
      if (!freopen("/dev/null", "w", stderr))
        _exit(1);
      _exit(static_cast<int>(runTraining(testModel(), all)));
    }
    while (readAll(all.metrics).find("\"step\":3") == std::string::npos)
      usleep(100);
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
      raise(SIGUSR1);
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
  EXPECT_TRUE(says(err, {"SIGUSR1: stopped after step 30", "--resume goes on"}));
  EXPECT_TRUE(std::filesystem::file_size(all.gradients) > 0);
  all.gradients = "";
  all.attach = nullptr;
  all.resume = true;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(out, {"steps 30\n", "heldout_loss "}));
}

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

TEST_F(Train, DataThatChange) {
  std::string tokens;
  for (uint16_t i = 0; i < 4000; ++i)
    tokens += raw(static_cast<uint16_t>(i % 5));
  for (bool shorter : {true, false}) {
    RunOptions all = options(shorter ? "shorter" : "others");
    std::string path = folder.write("t.bin", tokens);
    all.data = {"window=" + path};
    all.steps = 100000000;
    all.every = 100000000;
    std::thread changes([&] {
      while (readAll(all.metrics).find("\"step\":3") == std::string::npos)
        usleep(100);
      usleep(20000); // the clock of a file system ticks a few hundred times a second
      folder.write("t.bin", shorter ? "" : tokens);
    });
    EXPECT_TRUE(says(refused(Exit::data, all),
                     {"t.bin: was ", "while it was in use", "; the run is saved after step "}));
    changes.join();
    EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().size(), 1u);
  }
}

TEST_F(Train, OneProcessOfSeveral) {
  setenv("SLURM_NTASKS", "8", 1); // the shell of an allocation has it too
  setenv("WORLD_SIZE", "1", 1);
  EXPECT_EQ(run(options("a")), Exit::ok);
  for (const char *size : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                           "PET_NNODES", "JAX_NUM_PROCESSES"}) {
    setenv(size, "4", 1);
    setenv("RANK", "2", 1);
    EXPECT_TRUE(says(refused(Exit::usage, options("b")), {std::string(size) + "=4"}));
    unsetenv(size);
  }
  unsetenv("RANK");
  unsetenv("SLURM_NTASKS");
}

TEST_F(Train, WithoutADirectoryASignalEndsTheRun) {
  RunOptions all = options("a");
  all.steps = 100000000;
  all.checkpoint = "";
  pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr))
      _exit(1);
    _exit(static_cast<int>(runTraining(testModel(), all)));
  }
  while (readAll(all.metrics).find("\"step\":3") == std::string::npos)
    usleep(100);
  kill(child, SIGINT);
  int status;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST_F(Train, NotFinite) {
  std::string tokens;
  for (uint16_t i = 0; i < 40; ++i)
    tokens += raw(static_cast<uint16_t>(i == 20 ? 9 : i % 5));
  RunOptions all = options("a");
  all.data = {"window=" + folder.write("t.bin", tokens)};
  all.noShuffle = true;
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
                   {"step 22: loss inf", "as the 19 steps before it", "--nan-limit"}))
      << "of step 3 and all after it";
  // Where the run goes on, so does the count.
  all.resume = true;
  EXPECT_TRUE(says(refused(Exit::numeric, all), {"step 22: ", "as the 19 steps before it"}));
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
                   {"each of the 5 steps was left out", "nothing was learnt"}));
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
                      "no step can be taken from there"}));
    EXPECT_TRUE(says(err, {"warning: 'weights' is -inf at [2]", "a step that computes such"}));
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
                                    mask->offset = p.persistent;
                                    p.variables.push_back(std::move(mask));
                                    p.persistent += 64;
                                    for (auto &entry : p.entries)
                                      for (auto &buffer : entry->buffers)
                                        buffer->offset += 64;
                                    p.arena += 64;
                                  }),
                        masked),
            Exit::ok);
  ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(says(::testing::internal::GetCapturedStderr(),
                   {"warning: 'mask' is -inf at [2] in " + masked.initPartial,
                    "no step writes it, so it stays as it is"}));
}

TEST_F(Train, WhatIsNotFiniteIsNotSaved) {
  std::string tokens;
  for (uint16_t i = 0; i < 40; ++i)
    tokens += raw(static_cast<uint16_t>(i == 13 ? 8 : i % 5));
  RunOptions all = options("a");
  all.data = {"window=" + folder.write("t.bin", tokens)};
  all.noShuffle = true;
  all.every = 1;
  EXPECT_TRUE(says(refused(Exit::numeric, all),
                   {"step 4: 'weights' is nan at [0]", "not saved", "step-00000003"}));
  EXPECT_EQ(CheckpointStore(all.checkpoint, 3, disk).steps().front(), 3);
}

TEST_F(Train, CheckpointsOfAnother) {
  run(options("a"));
  EXPECT_TRUE(says(refused(Exit::usage, options("a")), {"--resume"}));
  RunOptions resume = options("a");
  resume.resume = true;
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { runTraining(testModel("others"), resume); }),
                   {"another model", "missing: others F32[4]", "unexpected: weights"}));
  resume.seed = 2;
  EXPECT_TRUE(says(refused(Exit::usage, resume), {"--seed 2", "--seed 1"}));
}

TEST_F(Train, ResumedTextKeepsItsNumbers) {
  run(options("a"));
  RunOptions resume = options("a");
  resume.resume = resume.extend = true;
  resume.change = {"data"};
  resume.steps = 40;
  resume.data = {"window=" + folder.write("few.txt", "eeeeeeeee")};
  EXPECT_EQ(run(resume), Exit::ok);
  resume.data = {"window=" + folder.write("new.txt", "abcexyz")};
  EXPECT_TRUE(says(refused(Exit::data, resume), {"'x'", "trained with"}));
}

TEST_F(Train, ResumesWithDataOfTheSameKind) {
  run(options("a"));
  RunOptions resume = options("a");
  resume.resume = resume.extend = true;
  resume.change = {"data"};
  resume.steps = 40;
  std::string tokens;
  for (uint16_t i = 0; i < 40; ++i)
    tokens += raw(static_cast<uint16_t>(i % 5));
  std::string binary = "window=" + folder.write("t.bin", tokens);
  resume.data = {binary};
  EXPECT_TRUE(says(refused(Exit::data, resume), {"t.bin", "was trained on text", "'window'"}));
  resume.data = {"window=bytes:" + folder.write("small", std::string(40, '\3'))};
  EXPECT_TRUE(says(refused(Exit::data, resume), {"is read as bytes", "was trained on text"}));
  resume.data = {"window=" + folder.write("few.txt", "eeeeeeeee")};
  EXPECT_EQ(run(resume), Exit::ok);
  EXPECT_TRUE(says(err, {"few.txt: has fewer than the 4 characters"}));
  // A part of the text that has all characters is nothing to speak of.
  resume.steps = 50;
  resume.data = {"window=" + folder.write("all.txt", "ecbaecba")};
  EXPECT_EQ(run(resume), Exit::ok);
  EXPECT_FALSE(says(err, {"characters"}));

  RunOptions numbers = options("b");
  numbers.data = {binary};
  EXPECT_EQ(run(numbers), Exit::ok);
  numbers.resume = true;
  EXPECT_EQ(run(numbers), Exit::ok);
  numbers.data = {data};
  EXPECT_TRUE(says(refused(Exit::data, numbers), {"is read as text", "where the numbers mean"}));
}

TEST_F(Train, OneRunInADirectory) {
  run(options("a"));
  RunOptions resume = options("a");
  resume.resume = true;
  {
    DirectoryLock other(resume.checkpoint);
    EXPECT_TRUE(says(refused(Exit::usage, resume), {resume.checkpoint, "another run"}));
  }
  EXPECT_EQ(run(resume), Exit::ok);
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

TEST_F(Train, Epochs) {
  RunOptions all = options("a");
  all.epochs = 2;
  run(all);
  // 200 tokens are 99 windows, 49 steps of two.
  EXPECT_TRUE(says(out, {"steps 98\n"}));
}

TEST_F(Train, Init) {
  RunOptions all = options("a");
  run(all);
  RunOptions again = options("b");
  again.init = CheckpointStore(all.checkpoint, 3, disk).pathOf(30) + "/model.safetensors";
  run(again);
  EXPECT_NE(metrics("a"), metrics("b"));
  again = options("c");
  again.init = folder / "absent";
  EXPECT_TRUE(says(refused(Exit::data, again), {"absent"}));
  EXPECT_EQ(err, "");
  again.init = folder.write("text", "no safetensors");
  EXPECT_TRUE(says(refused(Exit::data, again), {"text", "safetensors"}));
  EXPECT_FALSE(std::filesystem::exists(again.checkpoint));
}

TEST_F(Train, Traces) {
  RunOptions all = options("a");
  all.trace = folder / "trace.json";
  run(all);
  EXPECT_TRUE(says(readAll(all.trace), {"\"traceEvents\":[", "\"cat\":\"step\"",
                                        "\"name\":\"step\"", "\"dur\":", "\n]}\n"}));
  all = options("b");
  all.trace = folder / "absent/trace.json";
  EXPECT_TRUE(says(refused(Exit::storage, all), {"absent/trace.json"}));
}

/// The four numbers of a safetensors file.
std::vector<float> gradientsIn(const std::string &path) {
  SafeTensors file(path, Exit::data);
  const StoredTensor &tensor = file.tensors().at("weights");
  EXPECT_EQ(describe(tensor), "F32[4]");
  std::vector<float> values(4);
  std::memcpy(values.data(), tensor.data, tensor.size);
  return values;
}

TEST_F(Train, GradientsOfTheLastStep) {
  RunOptions all = options("a");
  all.gradients = folder / "a.safetensors";
  all.holdout = 0.1; // an evaluation after the last step
  EXPECT_EQ(run(all), Exit::ok);
  auto gradients = gradientsIn(all.gradients);
  double norm = 0;
  for (float value : gradients)
    norm += value * value;
  std::ostringstream value;
  value.precision(9);
  value << "\"grad_norm\":" << static_cast<float>(norm);
  std::string records = metrics("a");
  size_t last = records.rfind("{\"step\":30,");
  ASSERT_NE(last, std::string::npos);
  EXPECT_TRUE(says(records.substr(last), {value.str()}));
  RunOptions shorter = options("b");
  shorter.steps = 29;
  shorter.holdout = 0.1;
  shorter.gradients = all.gradients;
  run(shorter);
  EXPECT_NE(gradientsIn(shorter.gradients), gradients) << "overwritten";
}

TEST_F(Train, GradientsOfANotFiniteStep) {
  std::string tokens;
  for (uint16_t i = 0; i < 40; ++i)
    tokens += raw(static_cast<uint16_t>(i == 20 ? 9 : i % 5));
  RunOptions all = options("a");
  all.data = {"window=" + folder.write("t.bin", tokens)};
  all.noShuffle = true;
  all.gradients = folder / "a.safetensors";
  refused(Exit::numeric, all);
  EXPECT_NE(gradientsIn(all.gradients), std::vector<float>(4, 0.0f));
}

TEST_F(Train, GradientsThatAreNotThere) {
  RunOptions all = options("a");
  all.gradients = folder / "a.safetensors";
  EXPECT_TRUE(
      says(messageOf(Exit::usage, [&] { runTraining(testModel("weights", "values"), all); }),
           {"--gradients", "'four' does not give its gradients", "`weir compile --gradients`"}));
  EXPECT_FALSE(std::filesystem::exists(all.gradients));
  EXPECT_FALSE(std::filesystem::exists(all.metrics)) << "nothing has been written";
  all.gradients = folder / "absent/a.safetensors";
  EXPECT_TRUE(says(refused(Exit::storage, all), {"absent/a.safetensors", "cannot create"}));
}

TEST_F(Train, GradientsOfNoStep) {
  RunOptions all = options("a");
  run(all);
  all.resume = true;
  all.gradients = folder / "a.safetensors";
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(err, {"there was no step left to run"}));
}

TEST_F(Train, SaysThatWeightsAreNotKept) {
  RunOptions all = options("a");
  all.checkpoint = "";
  run(all);
  EXPECT_TRUE(says(err, {"will not be kept", "--checkpoint DIR"}));
}

} // namespace
} // namespace weir
