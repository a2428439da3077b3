//===- CheckpointStoreTest.cpp - Saving, finding and falling back ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Leftovers.h"
#include "test/runtime/checkpoint/TestState.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

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

TEST_F(CheckpointStoreTest, Format1IsRead) {
  save({1, 2});
  Manifest manifest = Manifest::read(readAll(file(2, "manifest.json")));
  for (auto &[name, facts] : manifest.files) {
    std::string content = readAll(file(2, name));
    facts = {.size = content.size(), .xxh3 = hexText(hashOf(content.data(), content.size()))};
  }
  std::ofstream(file(2, "manifest.json")) << manifest.write();
  EXPECT_EQ(checkedStep(*load()), 2);
  flip(file(2, "model.safetensors"), readAll(file(2, "model.safetensors")).size() - 1);
  EXPECT_EQ(checkedStep(*load()), 1);
  EXPECT_TRUE(says(said, {"model.safetensors does not match its hash in manifest.json"}));
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
        EXPECT_TRUE(
            says(said, {"step-00000002 is incomplete or damaged", name, "falling back to step 1"}));
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

TEST_F(CheckpointStoreTest, TheCountersOfBothFilesAreCompared) {
  save({1});
  CheckpointStore store(directory, 3, disk);
  TestState mixed(2);
  mixed.counter = 7;
  mixed.save(store);
  EXPECT_EQ(checkedStep(*load()), 1);
  EXPECT_TRUE(says(said, {"step-00000002 is incomplete or damaged",
                          "the step is 7 in state.safetensors", "2 in manifest.json"}));
}

TEST_F(CheckpointStoreTest, WhatTheMachineLacksIsNoReasonToFallBack) {
  save({100, 200});
  int next = ::open("/dev/null", O_RDONLY);
  ::close(next);
  rlimit before, two;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  two = {static_cast<rlim_t>(next) + 2, before.rlim_max}; // the manifest and the parameters
  setrlimit(RLIMIT_NOFILE, &two);
  std::string message = messageOf(Exit::device, [&] { load(); });
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(says(message, {"state.safetensors: cannot open: Too many open files"}));
  EXPECT_EQ(load()->manifest.step, 200);
}

TEST_F(CheckpointStoreTest, WhatMayNotBeReadIsNotBroken) {
  save({100, 200});
  using std::filesystem::perms;
  std::filesystem::permissions(folder.path, perms::all);
  for (const char *name : {"model.safetensors", "state.safetensors", "manifest.json"}) {
    std::string path = file(200, name);
    std::filesystem::permissions(path, perms::none);
    bool root = geteuid() == 0; // who may read anything
    if (root && seteuid(65534) != 0)
      GTEST_SKIP() << "cannot give up the rights of root";
    std::string message = messageOf(Exit::storage, [&] { load(); });
    CheckpointStore store(directory, 3, disk);
    std::string saving = messageOf(Exit::storage, [&] { TestState(200).save(store); });
    ASSERT_TRUE(!root || seteuid(0) == 0);
    for (const std::string &text : {message, saving})
      EXPECT_TRUE(says(text, {path + ": cannot open: Permission denied"}));
    EXPECT_EQ(message.find("whole"), message.npos);
    EXPECT_TRUE(std::filesystem::exists(path)); // where it was
    std::filesystem::permissions(path, static_cast<perms>(0644));
    EXPECT_EQ(load()->manifest.step, 200);
  }
}

TEST_F(CheckpointStoreTest, NoneWhole) {
  save({1, 2});
  flip(file(1, "model.safetensors"), 3);
  flip(file(2, "manifest.json"), 0);
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { load(); }),
                   {"no intact checkpoint", "step-00000001", "step-00000002"}));
}

TEST_F(CheckpointStoreTest, DirectoriesThatCannotBeWritten) {
  std::string plain = folder.write("plain", "");
  for (const std::string &path : {plain, plain + "/below", std::string("/proc/weir")}) {
    CheckpointStore store(path, 3, disk);
    EXPECT_TRUE(says(messageOf(Exit::storage, [&] { store.prepare(1); }), {path}));
  }
  CheckpointStore store(directory, 3, disk);
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { store.prepare(size_t{1} << 60); }),
                   {"not enough space"}));
}

/// A folder beside the checkpoints with a checkpoint's files in it.
class OthersFiles : public CheckpointStoreTest {
protected:
  OthersFiles() {
    std::filesystem::create_directories(archive);
    for (const char *name : names)
      folder.write(std::string("archive/") + name, name);
  }
  void expectWhole() {
    for (const char *name : names)
      EXPECT_EQ(readAll(archive + "/" + name), name);
  }
  std::string inside(const std::string &name) { return directory + "/" + name; }
  static constexpr const char *names[] = {"model.safetensors", "state.safetensors", "manifest.json",
                                          "thesis.txt"};
  std::string archive = folder / "archive";
};

TEST_F(OthersFiles, NoLinkIsFollowed) {
  save({1});
  for (const char *name : {"step-00000002.tmp", "step-00000003.tmp", "step-00000003.broken.tmp",
                           "step-00000001.tmp", "step-00000000"})
    std::filesystem::create_directory_symlink(archive, inside(name));
  std::filesystem::create_directory_symlink(folder / "nowhere", inside("step-00000005.tmp"));
  std::filesystem::create_directory_symlink(folder / "nowhere", inside("step-00000004"));
  save({2, 3, 4, 5}, 1); // each name of a save is taken by a link; 1 to 4 are let go
  expectWhole();
  EXPECT_EQ(checkedStep(*load()), 5);
  EXPECT_EQ(CheckpointStore(directory, 1, disk).steps(), (std::vector<int64_t>{5, 0}));
  for (const char *name :
       {"step-00000002.tmp", "step-00000003.tmp", "step-00000003.broken.tmp", "step-00000001.tmp",
        "step-00000000", "step-00000005.tmp", "step-00000004.broken.tmp"})
    EXPECT_TRUE(std::filesystem::is_symlink(inside(name))) << name;
}

TEST_F(OthersFiles, OnlyWhatASaveWroteGoes) {
  save({1, 2});
  std::ofstream(inside("step-00000001/notes.txt")) << "good";
  std::filesystem::create_directories(inside("step-00000002/curves"));
  std::filesystem::create_directories(inside("step-00000009.tmp/mine"));
  std::filesystem::create_directories(inside("step-best.tmp"));
  std::ofstream(inside("step-best.tmp/model.safetensors")) << "mine";
  std::ofstream(inside("step-00000008.tmp")) << "mine";
  save({3, 4}, 1);
  EXPECT_EQ(CheckpointStore(directory, 1, disk).steps(), (std::vector<int64_t>{4}));
  EXPECT_EQ(readAll(inside("step-00000001.tmp/notes.txt")), "good");
  EXPECT_FALSE(std::filesystem::exists(inside("step-00000001.tmp/model.safetensors")));
  EXPECT_TRUE(std::filesystem::exists(inside("step-00000002.tmp/curves")));
  EXPECT_TRUE(std::filesystem::exists(inside("step-00000009.tmp/mine")));
  EXPECT_EQ(readAll(inside("step-best.tmp/model.safetensors")), "mine");
  EXPECT_EQ(readAll(inside("step-00000008.tmp")), "mine");
  EXPECT_FALSE(std::filesystem::exists(inside("step-00000003.tmp")));
  // What stays is in nobody's way.
  save({9, 10}, 1);
  EXPECT_EQ(checkedStep(*load()), 10);
}

TEST_F(OthersFiles, TheProbesNameMayBeTaken) {
  std::string probe = inside("probe-" + std::to_string(getpid()) + ".tmp");
  std::filesystem::create_directories(directory);
  std::ofstream(probe) << "mine";
  save({1});
  EXPECT_EQ(readAll(probe), "mine");
}

TEST_F(OthersFiles, NamesOfASave) {
  EXPECT_EQ(stepOfName("step-00000012"), 12);
  EXPECT_EQ(stepOfName("step-123456789"), 123456789);
  for (const char *name : {"step-12", "step-012345678", "step-0000001x", "step-", "step-00000012 ",
                           "step-1234567890123456789", "Step-00000012"})
    EXPECT_EQ(stepOfName(name), -1) << name;
  for (const char *name : {"step-00000012.tmp", "step-00000012.1.tmp", "step-00000012.broken.tmp",
                           "step-00000012.broken.17.tmp"})
    EXPECT_TRUE(isLeftover(name)) << name;
  for (const char *name : {"step-00000012", "step-12.tmp", "step-00000012.x.tmp", ".tmp",
                           "step-00000012..tmp", "step-00000012.1.broken.tmp", "notes.tmp"})
    EXPECT_FALSE(isLeftover(name)) << name;
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
