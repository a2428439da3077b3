//===- ResumeTest.cpp - Runs that go on from a checkpoint -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/DirectoryLock.h"
#include "support/precision/LossScale.h"
#include "test/runtime/run/TrainFixture.h"
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace weir {
namespace {

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
  EXPECT_TRUE(
      says(refused(Exit::usage, more), {"10 steps, but this command asks for 20", "--extend"}));
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
  EXPECT_TRUE(says(err, {"the recipe asks for 40 steps; the run continues for the 30 that it was "
                         "started for (--extend takes the recipe's)"}));
  EXPECT_TRUE(says(out, {"steps 30\n"}));
  resume.extend = true;
  EXPECT_EQ(go(), Exit::ok);
  EXPECT_FALSE(says(err, {"the recipe asks"}));
  EXPECT_TRUE(says(out, {"steps 40\n"}));
}

TEST_F(Train, ResumesWithNoLossScaleThatNoStepMakes) {
  std::vector<std::byte> scaled = testModel("weights", "gradient/weights",
                                            [](artifact::ProgramT &p) { p.loss_scale = "dynamic"; },
                                            {"loss_scale", "good_steps"});
  EXPECT_EQ(run(options("a"), scaled), Exit::ok);
  auto resumes = [&](int32_t scale, int32_t good) {
    auto edit = [&](StoredTensor &tensor) {
      if (tensor.name == "loss_scale" || tensor.name == "good_steps")
        tensor.data =
            reinterpret_cast<const std::byte *>(tensor.name == "loss_scale" ? &scale : &good);
    };
    run(edited("a", "b", edit), scaled);
  };
  for (auto [scale, good] :
       {std::pair(0, 0), {3, 0}, {-8, 0}, {1 << 25, 0}, {8, -1}, {8, LossScale::goodSteps}})
    EXPECT_TRUE(says(messageOf(Exit::storage, [&] { resumes(scale, good); }),
                     {"the loss scale is " + std::to_string(scale), "expected a power of two"}));
  for (auto [scale, good] : {std::pair(1, 0), {1 << 24, LossScale::goodSteps - 1}})
    EXPECT_NO_THROW(resumes(scale, good));
}

TEST_F(Train, ResumesNoTensorOfAnotherMasterThanItSays) {
  run(options("a"));
  EXPECT_EQ(run(edited("a", "b", [](StoredTensor &) {})), Exit::ok);
  auto narrow = [](StoredTensor &tensor) {
    if (tensor.name == "weights")
      tensor.dtype = "BF16", tensor.size /= 2;
  };
  EXPECT_TRUE(says(refused(Exit::model, edited("a", "c", narrow)),
                   {"type mismatch: weights is BF16[4] in the file, F32[4] in the model"}));
}

TEST_F(Train, ResumesInAnEmptyDirectory) {
  RunOptions all = options("a");
  all.resume = true;
  EXPECT_EQ(run(all), Exit::ok);
  EXPECT_TRUE(says(err, {"no checkpoint in ", "starting from step 0"}));
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
  EXPECT_TRUE(says(refused(Exit::data, numbers),
                   {"is read as text", "so its numbers would have another meaning"}));
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

} // namespace
} // namespace weir
