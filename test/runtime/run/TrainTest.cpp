//===- TrainTest.cpp - Whole runs of a small model ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/run/TrainFixture.h"
#include <cstring>
#include <thread>
#include <unistd.h>

namespace weir {
namespace {

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

TEST_F(Train, SaysThatWeightsAreNotKept) {
  RunOptions all = options("a");
  all.checkpoint = "";
  run(all);
  EXPECT_TRUE(says(err, {"will not be saved", "--checkpoint DIR"}));
}

} // namespace
} // namespace weir
