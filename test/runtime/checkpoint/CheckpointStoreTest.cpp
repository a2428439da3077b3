//===- CheckpointStoreTest.cpp - Saving, finding and falling back ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/checkpoint/TestState.h"

namespace weir {
namespace {

class CheckpointStoreTest : public ::testing::Test {
protected:
  void save(std::initializer_list<int64_t> steps, int keep = 3) {
    CheckpointStore store(directory, keep, disk);
    store.prepare(100);
    for (int64_t step : steps)
      TestState(step).save(store);
  }
  std::optional<Checkpoint> load() {
    said.clear();
    return CheckpointStore(directory, 3, disk).loadNewest([&](const std::string &line) {
      said += line + "\n";
    });
  }
  std::string file(int64_t step, const std::string &name) {
    return CheckpointStore(directory, 3, disk).pathOf(step) + "/" + name;
  }
  void flip(const std::string &path, size_t at) {
    std::string content = readAll(path);
    content.at(at) ^= 1;
    std::ofstream(path, std::ios::binary) << content;
  }
  TestFolder folder;
  std::string directory = folder / "kept/run", said;
  Disk disk;
};

TEST_F(CheckpointStoreTest, RoundTrip) {
  save({100});
  auto checkpoint = load();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkedStep(*checkpoint), 100);
  const Manifest &manifest = checkpoint->manifest;
  TestState expected(100);
  EXPECT_EQ(manifest.totalSteps, 1000);
  EXPECT_EQ(manifest.seed, 3);
  EXPECT_EQ(manifest.model, "test");
  EXPECT_EQ(manifest.configs, expected.manifest.configs);
  EXPECT_EQ(manifest.data.at("window").format, "text");
  EXPECT_EQ(manifest.vocabularies, expected.manifest.vocabularies);
  EXPECT_EQ(said, "");
}

TEST_F(CheckpointStoreTest, NothingThere) { EXPECT_FALSE(load()); }

TEST_F(CheckpointStoreTest, KeepsTheNewest) {
  save({1, 2, 3, 4, 5}, 2);
  EXPECT_EQ(CheckpointStore(directory, 2, disk).steps(), (std::vector<int64_t>{5, 4}));
}

TEST_F(CheckpointStoreTest, KeepsWholeOnesWherePartsAreBroken) {
  save({1, 2}, 2);
  flip(file(2, "model.safetensors"), 90);
  save({3}, 2);
  // 2 cannot be used, so 1 still counts as the second newest.
  EXPECT_EQ(CheckpointStore(directory, 2, disk).steps(), (std::vector<int64_t>{3, 2, 1}));
  save({4}, 2);
  EXPECT_EQ(CheckpointStore(directory, 2, disk).steps(), (std::vector<int64_t>{4, 3}));
}

TEST_F(CheckpointStoreTest, SavingAStepAgainChangesNothing) {
  save({1});
  std::string before = readAll(file(1, "manifest.json"));
  save({1});
  EXPECT_EQ(readAll(file(1, "manifest.json")), before);
}

TEST_F(CheckpointStoreTest, ABrokenOneOfTheSameStepIsReplaced) {
  save({1, 2});
  flip(file(2, "state.safetensors"), 90);
  save({2});
  EXPECT_EQ(checkedStep(*load()), 2);
  EXPECT_EQ(said, "");
}

TEST_F(CheckpointStoreTest, FallsBackFromEveryFlippedByte) {
  save({1, 2});
  for (const char *name : {"model.safetensors", "state.safetensors", "manifest.json"}) {
    std::string path = file(2, name), content = readAll(path);
    for (size_t at = 0; at < content.size(); ++at) {
      flip(path, at);
      auto checkpoint = load();
      ASSERT_TRUE(checkpoint);
      // White space in the manifest says nothing, so changing it does no harm.
      if (checkpoint->manifest.step == 1)
        EXPECT_TRUE(says(said, {"step-00000002 is not whole", name, "falling back to step 1"}));
      else
        EXPECT_TRUE(name == std::string("manifest.json") && std::isspace(content[at]))
            << name << " byte " << at;
      flip(path, at);
    }
  }
}

TEST_F(CheckpointStoreTest, FallsBackFromMissingAndShortFiles) {
  save({1, 2});
  for (const char *name : {"model.safetensors", "state.safetensors", "manifest.json"}) {
    std::string path = file(2, name), content = readAll(path);
    std::filesystem::remove(path);
    EXPECT_EQ(checkedStep(*load()), 1);
    EXPECT_TRUE(says(said, {name}));
    for (size_t length : {size_t{0}, content.size() / 2, content.size() - 1}) {
      std::ofstream(path, std::ios::binary) << content.substr(0, length);
      int64_t step = load()->manifest.step;
      EXPECT_TRUE(step == 1 ||
                  (length == content.size() - 1 && name == std::string("manifest.json")));
    }
    std::ofstream(path, std::ios::binary) << content;
  }
}

TEST_F(CheckpointStoreTest, NoneWhole) {
  save({1, 2});
  flip(file(1, "model.safetensors"), 3);
  flip(file(2, "manifest.json"), 0);
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { load(); }),
                   {"no whole checkpoint", "step-00000001", "step-00000002"}));
}

TEST_F(CheckpointStoreTest, DirectoriesThatCannotBeWritten) {
  std::string plain = folder.write("plain", "");
  for (const std::string &path : {plain, plain + "/below", std::string("/proc/weir")}) {
    CheckpointStore store(path, 3, disk);
    EXPECT_TRUE(says(messageOf(Exit::storage, [&] { store.prepare(1); }), {path}));
  }
  CheckpointStore store(directory, 3, disk);
  EXPECT_TRUE(
      says(messageOf(Exit::storage, [&] { store.prepare(size_t{1} << 60); }), {"no space"}));
}

TEST(CheckpointLock, OneStoreAtATime) {
  TestFolder folder;
  std::string directory = folder / "kept";
  Disk disk;
  CheckpointStore early(directory, 3, disk);
  early.lock(); // nothing to lock yet
  {
    CheckpointStore first(directory, 3, disk);
    first.prepare(1);
    EXPECT_TRUE(
        says(messageOf(Exit::usage, [&] { early.prepare(1); }), {directory, "another run"}));
    EXPECT_TRUE(says(messageOf(Exit::usage, [&] { early.lock(); }), {directory, "another run"}));
  }
  early.lock();
  CheckpointStore last(directory, 3, disk);
  EXPECT_TRUE(says(messageOf(Exit::usage, [&] { last.lock(); }), {directory}));
}

} // namespace
} // namespace weir
