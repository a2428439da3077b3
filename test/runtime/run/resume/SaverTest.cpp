//===- SaverTest.cpp - Saves behind the steps -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/Saver.h"
#include "runtime/run/OpenDevice.h"
#include "test/runtime/run/TrainFixture.h"
#include <semaphore>

namespace weir {
namespace {

/// Writes nothing of tensors until it may, and then fails if it has to.
class HeldDisk : public Disk {
public:
  explicit HeldDisk(int failure = 0) : failure(failure) {}
  ssize_t writeAt(int file, const void *data, size_t size, uint64_t at) override {
    may.acquire();
    may.release();
    errno = failure;
    return failure ? -1 : Disk::writeAt(file, data, size, at);
  }
  std::binary_semaphore may{0};

private:
  const int failure;
};

class SaverTest : public ::testing::Test {
protected:
  SaverTest() {
    options.checkpoint = directory;
    options.asyncCheckpoint = true;
    CheckpointStore store(directory, 3, disk);
    store.prepare(1);
    Saver(store, program, options).save(of(1), /*stepsFollow=*/false);
  }
  /// The program as it is after a step.
  Manifest of(int32_t step) {
    for (const TensorView &variable : program.variables())
      if (variable.name == "step")
        variable.write(0, std::as_bytes(std::span(&step, 1)));
      else
        variable.write(0, std::vector<std::byte>(variable.size, std::byte(step)));
    Manifest manifest;
    manifest.step = step;
    manifest.totalSteps = 10;
    manifest.model = manifest.target = "four";
    return manifest;
  }
  std::vector<int64_t> steps() { return CheckpointStore(directory, 3, disk).steps(); }
  std::string weights(int64_t step) {
    return readAll(CheckpointStore(directory, 3, disk).pathOf(step) + "/model.safetensors");
  }
  bool hasLeftovers() {
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      if (entry.path().string().ends_with(".tmp"))
        return true;
    return false;
  }
  TestFolder folder;
  std::string directory = folder / "kept";
  Disk disk;
  RunOptions options;
  Program program{testModel(), openDevice, {.device = {.threads = 1}}};
};

TEST_F(SaverTest, WritesWhatWasThereWhenItBegan) {
  HeldDisk held;
  CheckpointStore store(directory, 3, held);
  Saver saver(store, program, options);
  saver.save(of(2), /*stepsFollow=*/true);
  of(3); // steps go on
  saver.poll();
  EXPECT_EQ(saver.saved(), -1); // not said before it is so
  EXPECT_EQ(steps(), std::vector<int64_t>{1});
  held.may.release();
  saver.wait();
  EXPECT_EQ(saver.saved(), 2);
  EXPECT_EQ(steps(), (std::vector<int64_t>{2, 1}));
  std::string behind = weights(2);
  std::filesystem::remove_all(store.pathOf(2));
  CheckpointStore again(directory, 3, disk);
  Saver(again, program, options).save(of(2), /*stepsFollow=*/false);
  EXPECT_EQ(weights(2), behind);
}

TEST_F(SaverTest, ASecondSaveWaitsForTheFirst) {
  HeldDisk held;
  held.may.release();
  CheckpointStore store(directory, 9, held);
  Saver saver(store, program, options);
  for (int step = 2; step < 6; ++step)
    saver.save(of(step), /*stepsFollow=*/step < 5);
  EXPECT_EQ(saver.saved(), 5);
  EXPECT_EQ(steps(), (std::vector<int64_t>{5, 4, 3, 2, 1}));
  EXPECT_FALSE(hasLeftovers());
}

TEST_F(SaverTest, ADiskThatFailsBehindTheStepsEndsTheRun) {
  for (bool polled : {false, true}) {
    HeldDisk held(ENOSPC);
    CheckpointStore store(directory, 3, held);
    Saver saver(store, program, options);
    saver.save(of(2), /*stepsFollow=*/true);
    saver.poll();
    held.may.release();
    std::string message = messageOf(Exit::storage, [&] {
      for (int i = 0; polled && i < 10000; ++i, usleep(1000))
        saver.poll();
      saver.wait();
    });
    EXPECT_TRUE(says(message, {"step-00000002.tmp/model.safetensors: cannot write", "No space"}));
    EXPECT_EQ(saver.saved(), -1);
    EXPECT_EQ(steps(), std::vector<int64_t>{1});
    EXPECT_FALSE(hasLeftovers());
    saver.wait(); // for nothing
  }
}

TEST_F(SaverTest, WhatIsNotWaitedForIsNotSaved) {
  HeldDisk held;
  held.may.release();
  {
    CheckpointStore store(directory, 3, held);
    Saver saver(store, program, options);
    saver.save(of(2), /*stepsFollow=*/true);
  }
  EXPECT_EQ(steps(), std::vector<int64_t>{1});
  EXPECT_FALSE(hasLeftovers());
}

/// Of which a process holds more memory than there is.
class LargeDevice : public Device {
public:
  DeviceFacts facts() const override { return {.name = "", .hostMemory = uint64_t(1) << 62}; }
  Ticket write(Address, std::span<const std::byte>) override { return 0; }
  Ticket read(Address, std::span<std::byte>) override { return 0; }
  Ticket run(uint32_t) override { return 0; }
  void wait(Ticket) override {}
  void trace(Trace *) override {}
  void observe(Observer *) override {}
};

TEST_F(SaverTest, ACopyThatDoesNotFitIsRefused) {
  MakeDevice make = [](const artifact::Program &, const DeviceOptions &) {
    return std::make_unique<LargeDevice>();
  };
  Program large(testModel(), make, {});
  CheckpointStore store(directory, 3, disk);
  EXPECT_TRUE(
      says(messageOf(Exit::device, [&] { Saver(store, large, options); }),
           {"--async-checkpoint: not enough memory for a copy of the tensors to save: 44 bytes",
            "leave the option out"}));
  options.asyncCheckpoint = false;
  EXPECT_NO_THROW(Saver(store, large, options));
}

TEST_F(Train, SavesTheSameBehindTheSteps) {
  RunOptions between = options("between"), behind = options("behind");
  between.every = behind.every = 4;
  between.keep = behind.keep = 100;
  behind.asyncCheckpoint = true;
  EXPECT_EQ(run(between), Exit::ok);
  EXPECT_EQ(run(behind), Exit::ok);
  EXPECT_EQ(metrics("behind"), metrics("between"));
  std::vector<int64_t> steps = CheckpointStore(between.checkpoint, 9, disk).steps();
  EXPECT_EQ(CheckpointStore(behind.checkpoint, 9, disk).steps(), steps);
  EXPECT_EQ(steps.size(), 8u); // 4, 8, ..., 28 and the last
  for (int64_t step : steps)
    for (const char *name : {"model.safetensors", "state.safetensors", "manifest.json"}) {
      std::string file = CheckpointStore("", 9, disk).pathOf(step) + "/" + name;
      EXPECT_EQ(readAll(behind.checkpoint + "/" + file), readAll(between.checkpoint + "/" + file));
    }
}

} // namespace
} // namespace weir
