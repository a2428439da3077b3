//===- CrashTest.cpp - A save that fails or ends anywhere -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A save is run once for each call that it makes to the disk: that call fails, or the process dies
// in it. Afterwards the newest checkpoint that loads is the old one or the new one.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/checkpoint/FaultyDisk.h"
#include "test/runtime/checkpoint/TestState.h"

namespace weir {
namespace {

/// With checkpoints 1 and 2 there and 2 kept, saves 3 so that call `at` goes wrong. Returns the
/// number of calls made.
int saveWith(FaultyDisk::Kind kind, int at) {
  TestFolder folder;
  std::string directory = folder / "kept";
  Disk good;
  {
    CheckpointStore store(directory, 2, good);
    store.prepare(1);
    for (int64_t step : {1, 2})
      TestState(step).save(store);
  }
  FaultyDisk disk(kind, at);
  bool saved = true;
  {
    CheckpointStore store(directory, 2, disk);
    try {
      TestState(3).save(store);
    } catch (const Failure &failure) {
      saved = false;
      EXPECT_EQ(failure.exit, Exit::storage) << failure.what();
    }
  }
  if (kind == FaultyDisk::dies)
    disk.loseUnsynced();
  std::string said;
  auto checkpoint = CheckpointStore(directory, 2, good).loadNewest([&](const std::string &line) {
    said += line;
  });
  EXPECT_TRUE(checkpoint) << "call " << at;
  if (checkpoint) {
    int64_t step = checkedStep(*checkpoint);
    EXPECT_TRUE(step == 3 || (step == 2 && !saved)) << "call " << at << ": step " << step;
  }
  EXPECT_EQ(said, "") << "call " << at << ": a half checkpoint was left under a name that is read";

  // The next save finds nothing in its way.
  CheckpointStore store(directory, 2, good);
  TestState(4).save(store);
  EXPECT_EQ(checkedStep(*store.loadNewest([](const std::string &) {})), 4);
  for (const auto &entry : std::filesystem::directory_iterator(directory))
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
  return disk.calls;
}

class EachCall : public ::testing::TestWithParam<FaultyDisk::Kind> {};

TEST_P(EachCall, LeavesTheOldOrTheNew) {
  int calls = saveWith(FaultyDisk::none, -1);
  ASSERT_GT(calls, 20);
  for (int at = 0; at < calls; ++at)
    saveWith(GetParam(), at);
}

INSTANTIATE_TEST_SUITE_P(Faults, EachCall,
                         ::testing::Values(FaultyDisk::fails, FaultyDisk::full, FaultyDisk::half,
                                           FaultyDisk::dies));

TEST(FullDisk, SaysWhatToDo) {
  TestFolder folder;
  FaultyDisk disk(FaultyDisk::full, 3);
  CheckpointStore store(folder.path.string(), 2, disk);
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { TestState(1).save(store); }),
                   {"No space left", "--resume"}));
}

} // namespace
} // namespace weir
