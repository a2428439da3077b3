//===- RanksTest.cpp - Checkpoints of several processes -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Here they are threads, each with the program of its rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Ranks.h"
#include "runtime/checkpoint/Tensors.h"
#include "test/runtime/LocalGroup.h"
#include "test/runtime/checkpoint/FaultyDisk.h"
#include "test/runtime/checkpoint/MeshPrograms.h"
#include "test/runtime/checkpoint/TestState.h"
#include <random>
#include <sys/mman.h>

namespace weir {
namespace {

constexpr auto optimizer = artifact::Role::optimizer;

/// The same tensors, as meshes and levels of ZeRO have them.
struct Placed {
  std::string mesh;
  std::vector<MeshVariable> variables;
};

Placed placed(const std::string &mesh, const std::string &table = "", const std::string &inner = "",
              const std::string &heads = "", const std::string &odd = "",
              const std::string &moments = "") {
  return {mesh,
          {{"table", {6, 8}, table},
           {"inner", {5, 8}, inner},
           {"heads", {12, 3}, heads},
           {"bias", {1}, ""},
           {"adamw.m/table", {6, 8}, moments.empty() ? table : moments, optimizer},
           {"adamw.m/odd", {7}, odd, optimizer},
           {"step", {}, "", artifact::Role::run, artifact::DType::i32}}};
}

const Placed alone = placed("");

std::vector<Placed> onMeshes() {
  return {alone,
          placed("dp=2"),
          placed("dp=3", "", "", "", "", "6@dp 8"),
          placed("dp=2", "6@dp 8", "5@dp 8", "12@dp 3", "7@dp"),
          placed("dp=2,tp=2", "6@tp 8", "5 8@tp", "3*4@tp 3", "7", "6@tp@dp 8"),
          placed("dp=2,tp=2", "6@dp 8@tp", "5 8@dp@tp", "3*4@tp 3@dp", "7@dp@tp"),
          placed("tp=4", "6@tp 8", "5 8@tp", "3*4@tp 3", "7@tp"),
          placed("dp=4,tp=2", "6@dp 8@tp", "5 8@tp@dp", "3*4@dp 3@tp", "7@tp", "6 8@tp@dp"),
          placed("dp=4,tp=2 on dp=2", "6@dp 8@tp", "5 8@tp@dp", "3*4@dp 3@tp", "7@tp", "6 8@tp@dp"),
          placed("dp=2,tp=4 on tp=2,dp=2", "6@tp 8", "5 8@dp@tp", "3*4@dp 3", "7@dp", "6 8@tp@dp")};
}

class RanksTest : public ::testing::Test {
protected:
  RanksTest() {
    // The first checkpoint is of one device.
    std::unique_ptr<Program> program = loaded("", alone.variables);
    std::mt19937 random(11);
    for (const TensorView &variable : program->variables()) {
      std::vector<std::byte> bytes(variable.size);
      for (std::byte &byte : bytes)
        byte = std::byte(random() % 120);
      if (variable.name == "step")
        bytes = {std::byte(2), std::byte(0), std::byte(0), std::byte(0)};
      variable.write(0, bytes);
    }
    Disk disk;
    CheckpointStore store(folder / "first", 2, disk);
    store.prepare(1);
    save(store, *program, 2);
  }

  static void save(CheckpointStore &store, const Program &program, int64_t step) {
    TestState facts(step);
    store.save(facts.manifest, storedParameters(program.variables()),
               storedState(program.variables()));
  }

  /// Loads the newest checkpoint of one folder as a mesh's rank has it, or all of them, and saves
  /// it to another.
  void move(const Placed &to, Group *group, const std::string &from, const std::string &into,
            Disk &disk) {
    std::unique_ptr<Program> program = loaded(to.mesh, to.variables, group);
    Ranks ranks{group, &program->variables()};
    std::optional<Checkpoint> checkpoint =
        CheckpointStore(folder / from, 2, disk, ranks).loadNewest([](const std::string &) {});
    for (const SafeTensors *file : {&checkpoint->model, &checkpoint->state})
      restore(program->variables(), *file);
    CheckpointStore store(folder / into, 2, disk, ranks);
    store.prepare(1);
    save(store, *program, checkpoint->manifest.step);
  }

  std::string content(const std::string &name) {
    std::string all;
    for (const char *file : {"model.safetensors", "state.safetensors", "manifest.json"})
      all += readAll(folder / (name + "/step-00000002/" + file));
    return all;
  }

  TestFolder folder;
};

/// From each mesh to the next, and back to one device: by all ranks in one process, and by one
/// each.
TEST_F(RanksTest, EveryMeshSavesTheSameFiles) {
  std::string first = content("first"), last = "first";
  ASSERT_GT(first.size(), 1000u);
  for (const Placed &mesh : onMeshes()) {
    std::string name = last + "-on";
    Disk disk;
    move(mesh, nullptr, last, "virtual", disk);
    EXPECT_EQ(content("virtual"), first) << mesh.mesh;
    if (!mesh.mesh.empty()) {
      LocalGroups groups(processesOf(mesh.mesh));
      auto failures = groups.run([&](Group &group) {
        Disk own;
        move(mesh, &group, last, name, own);
      });
      EXPECT_EQ(failures, std::vector<std::string>(failures.size()));
      EXPECT_EQ(content(name), first) << mesh.mesh;
      last = name;
    }
    std::filesystem::remove_all(folder / "virtual");
  }
}

TEST_F(RanksTest, EachByteIsOnesToSave) {
  for (const Placed &mesh : onMeshes()) {
    if (mesh.mesh.empty())
      continue;
    int64_t ranks = processesOf(mesh.mesh);
    LocalGroups groups(ranks);
    std::vector<std::vector<int>> owners;
    std::vector<uint64_t> bytes(size_t(ranks), 0);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::unique_ptr<Group> group = groups.alone(rank);
      std::unique_ptr<Program> program = loaded(mesh.mesh, mesh.variables, group.get());
      owners.resize(program->variables().size());
      for (size_t i = 0; i < owners.size(); ++i) {
        const TensorView &variable = program->variables()[i];
        owners[i].resize(variable.size);
        std::vector<bool> kept(variable.size);
        variable.forEachKept(
            [&](uint64_t from, uint64_t size) { std::fill_n(kept.begin() + from, size, true); });
        variable.forEachOwned([&](uint64_t from, uint64_t size) {
          bytes[size_t(rank)] += size;
          for (uint64_t at = from; at < from + size; ++at) {
            ++owners[i][at];
            EXPECT_TRUE(kept[at]);
          }
        });
      }
    }
    for (const std::vector<int> &times : owners)
      EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << mesh.mesh;
    // Copies of a tensor are no reason for one rank to write it all.
    EXPECT_LT(*std::ranges::max_element(bytes), 3 * *std::ranges::min_element(bytes)) << mesh.mesh;
  }
}

/// What one finds wrong, all pass over.
TEST_F(RanksTest, AllFallBackTogether) {
  Placed mesh = onMeshes()[5];
  Disk disk;
  std::string path = folder / "first/step-00000003";
  std::filesystem::copy(folder / "first/step-00000002", path);
  for (const char *name : {"model.safetensors", "state.safetensors"}) {
    std::string content = readAll(path + "/" + name);
    for (size_t at = 0; at < content.size(); at += 7) {
      std::string damaged = content;
      damaged[at] ^= 1;
      std::ofstream(path + "/" + name, std::ios::binary) << damaged;
      auto failures = LocalGroups(4).run([&](Group &group) {
        std::unique_ptr<Program> program = loaded(mesh.mesh, mesh.variables, &group);
        Ranks ranks{&group, &program->variables()};
        std::string said;
        auto found = CheckpointStore(folder / "first", 2, disk, ranks)
                         .loadNewest([&](const std::string &line) { said += line; });
        EXPECT_EQ(found->manifest.step, 2);
        EXPECT_TRUE(
            says(said, {"step-00000003 is incomplete or damaged", name, "falling back to step 2"}));
      });
      ASSERT_EQ(failures, std::vector<std::string>(4)) << name << " byte " << at;
    }
    std::ofstream(path + "/" + name, std::ios::binary) << content;
  }
}

/// Each call to the disk of each rank fails once. Returns how many there were.
int saveWith(const std::string &first, int64_t victim, int at, FaultyDisk::Kind kind) {
  Placed mesh = onMeshes()[3];
  TestFolder folder;
  std::filesystem::copy(first, folder / "kept", std::filesystem::copy_options::recursive);
  std::atomic<int> calls = 0;
  auto failures = LocalGroups(2).run([&](Group &group) {
    std::unique_ptr<Program> program = loaded(mesh.mesh, mesh.variables, &group);
    FaultyDisk disk(group.rank() == victim ? kind : FaultyDisk::none, at);
    CheckpointStore store(folder / "kept", 2, disk, {&group, &program->variables()});
    TestState facts(3);
    auto found = store.loadNewest([](const std::string &) {});
    restore(program->variables(), found->model);
    int32_t step = 3;
    program->variables().back().write(0, std::as_bytes(std::span(&step, 1)));
    try {
      store.save(facts.manifest, storedParameters(program->variables()),
                 storedState(program->variables()));
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exit, Exit::storage);
      calls = disk.calls;
      throw;
    }
    if (group.rank() == victim)
      calls = disk.calls;
  });
  EXPECT_EQ(failures[0].empty(), failures[1].empty()) << failures[0] << failures[1];
  if (!failures[0].empty()) {
    std::string rank = "rank " + std::to_string(victim) + " reports: ";
    EXPECT_TRUE(says(failures[size_t(1 - victim)], {rank + failures[size_t(victim)]}));
    EXPECT_TRUE(says(failures[0], {kind == FaultyDisk::full ? "No space left" : "error"}));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "kept/step-00000003.tmp")) << "call " << at;
  Disk good;
  std::string said;
  auto found = CheckpointStore(folder / "kept", 2, good).loadNewest([&](const std::string &line) {
    said += line;
  });
  EXPECT_EQ(said, "");
  EXPECT_TRUE(found->manifest.step == 3 || !failures[0].empty()) << "call " << at;
  return calls;
}

TEST_F(RanksTest, WhatFailsOnOneFailsOnAll) {
  for (int64_t victim : {0, 1}) {
    int calls = saveWith(folder / "first", victim, -1, FaultyDisk::none);
    EXPECT_GT(calls, victim == 0 ? 15 : 8);
    for (int at = 0; at < calls; ++at)
      for (auto kind : {FaultyDisk::fails, FaultyDisk::full, FaultyDisk::half})
        saveWith(folder / "first", victim, at, kind);
  }
}

TEST_F(RanksTest, AllSeeOneFolder) {
  Placed mesh = onMeshes()[3];
  auto failures = LocalGroups(2).run([&](Group &group) {
    std::unique_ptr<Program> program = loaded(mesh.mesh, mesh.variables, &group);
    Disk disk;
    std::string own = folder / (group.rank() ? "other" : "kept");
    std::filesystem::create_directory(own);
    CheckpointStore(own, 2, disk, {&group, &program->variables()}).prepare(1);
  });
  EXPECT_TRUE(says(failures[1], {folder / "other" + ": is not the same directory as on rank 0",
                                 "the same directory on a shared file system"}));
  EXPECT_EQ(failures[0], "rank 1 reports: " + failures[1]);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "kept"));

  failures = LocalGroups(2).run([&](Group &group) {
    std::unique_ptr<Program> program = loaded(mesh.mesh, mesh.variables, &group);
    Disk disk;
    CheckpointStore(folder / (group.rank() ? "other" : "first"), 2, disk,
                    {&group, &program->variables()})
        .loadNewest([](const std::string &) {});
  });
  EXPECT_TRUE(says(failures[1],
                   {"other/step-00000002: rank 0 sees this checkpoint, but this rank does not"}));
}

/// Memory of whole pages, of which some cannot be touched.
class Pages {
public:
  explicit Pages(size_t size)
      : bytes(static_cast<std::byte *>(
                  mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
              size) {}
  ~Pages() { munmap(bytes.data(), bytes.size()); }
  void allow(bool all) { mprotect(bytes.data(), bytes.size(), all ? PROT_READ : PROT_NONE); }
  void allow(uint64_t from, uint64_t size) { mprotect(bytes.data() + from, size, PROT_READ); }
  const std::span<std::byte> bytes;
};

/// Each row of a tensor is a page, and so is each piece of one that ranks have.
TEST_F(RanksTest, NoRankTouchesAnothersShard) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  const auto row = int64_t(page / sizeof(float));
  Pages file(16 * page);
  for (size_t i = 0; i < file.bytes.size() / sizeof(float); ++i)
    reinterpret_cast<float *>(file.bytes.data())[i] = float(i);
  StoredTensor tensor{"w", "F32", {8, 2 * row}, file.bytes.data(), file.bytes.size()};
  uint64_t whole = [&] {
    FileSum sum;
    sum.add(0, file.bytes);
    return sum.value();
  }();
  for (artifact::DType dtype : {artifact::DType::f32, artifact::DType::bf16}) {
    std::vector<MeshVariable> variables = {{"w",
                                            {8, 2 * row},
                                            "8@dp " + std::to_string(2 * row) + "@tp",
                                            artifact::Role::parameter,
                                            dtype}};
    LocalGroups groups(4);
    FileSum sums;
    for (int64_t rank = 0; rank < 4; ++rank) {
      std::unique_ptr<Group> group = groups.alone(rank);
      std::unique_ptr<Program> program = loaded("dp=2,tp=2", variables, group.get());
      const TensorView &variable = program->variables()[0];
      size_t here = sizeOf(variable.element), touched = 0;
      file.allow(false);
      variable.forEachKept([&](uint64_t from, uint64_t size) {
        file.allow(from / here * sizeof(float), size / here * sizeof(float));
        touched += size / here * sizeof(float);
      });
      EXPECT_EQ(touched, file.bytes.size() / 4);
      copy(tensor, variable);
      sums.add(sumOfOwned(file.bytes, {{"w", tensor}}, true, {group.get(), &program->variables()}));
      file.allow(true);
      variable.readOwned([&](uint64_t from, std::span<const std::byte> bytes) {
        for (size_t at = 0; at < bytes.size(); at += 64 * here) {
          double value;
          loadNumbers(variable.element, bytes.data() + at, {&value, 1});
          EXPECT_NEAR(value, double((from + at) / here), double((from + at) / here) / 128);
        }
      });
    }
    EXPECT_EQ(sums.value(), whole);
  }
}

} // namespace
} // namespace weir
