//===- TensorsTest.cpp - A program's variables and --init -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Tensors.h"
#include "test/runtime/TestFiles.h"
#include <cstring>
#include <list>

namespace weir {
namespace {

class TensorsTest : public ::testing::Test {
protected:
  TensorsTest() {
    add("w", {2, 2}, artifact::Role::parameter);
    add("b", {2}, artifact::Role::parameter);
    add("norm.mean", {2}, artifact::Role::state);
    add("adamw.m/w", {2, 2}, artifact::Role::optimizer);
  }
  void add(const std::string &name, std::vector<int64_t> shape, artifact::Role role) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    storage.push_back(std::vector<float>(count, -1));
    variables.push_back({name, artifact::DType::f32, shape, role,
                         reinterpret_cast<std::byte *>(storage.back().data()), 4 * count});
  }
  std::string write(const std::vector<StoredTensor> &tensors) {
    std::string path = folder / "init.safetensors";
    FileWriter writer(disk, path);
    writeSafeTensors(writer, tensors);
    writer.finish();
    return path;
  }
  StoredTensor tensor(const std::string &name, std::vector<int64_t> shape, float value) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    values.push_back(std::vector<float>(count, value));
    return {name, "F32", shape, reinterpret_cast<const std::byte *>(values.back().data()),
            4 * count};
  }
  TestFolder folder;
  Disk disk;
  std::list<std::vector<float>> storage, values;
  std::vector<TensorView> variables;
  std::vector<float> &stored(size_t i) { return *std::next(storage.begin(), i); }
};

TEST_F(TensorsTest, LoadsByName) {
  loadInitialWeights(write({tensor("b", {2}, 2), tensor("w", {2, 2}, 1)}), variables);
  EXPECT_EQ(stored(0), std::vector<float>(4, 1));
  EXPECT_EQ(stored(1), std::vector<float>(2, 2));
  EXPECT_EQ(stored(2), std::vector<float>(2, -1));
}

TEST_F(TensorsTest, LoadsBlockStatesThatAreThere) {
  loadInitialWeights(
      write({tensor("b", {2}, 2), tensor("norm.mean", {2}, 3), tensor("w", {2, 2}, 1)}), variables);
  EXPECT_EQ(stored(2), std::vector<float>(2, 3));
}

TEST_F(TensorsTest, ListsEveryDifference) {
  std::string path = write({tensor("bb", {2}, 2), tensor("w", {4}, 1), tensor("extra", {1}, 1)});
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { loadInitialWeights(path, variables); }),
                   {path, "missing: b F32[2]", "unexpected: bb F32[2]", "unexpected: extra F32[1]",
                    "other shape: w is F32[4] in the file, F32[2, 2] in the model"}));
  EXPECT_EQ(stored(0), std::vector<float>(4, -1));
}

TEST_F(TensorsTest, NamesTheFirstFewOfManyDifferences) {
  std::vector<StoredTensor> many;
  for (int i = 0; i < 20000; ++i)
    many.push_back(
        tensor("layer." + std::to_string(i) + std::string(300, 'x') + "\x1b[2J", {1}, 0));
  std::string path = write(many);
  std::string message = messageOf(Exit::model, [&] { loadInitialWeights(path, variables); });
  EXPECT_LT(message.size(), 10000u);
  EXPECT_TRUE(says(message, {"missing: w", "unexpected: layer.0xxx", "and 19982 more"}));
  EXPECT_EQ(message.find('\x1b'), message.npos);
}

TEST_F(TensorsTest, WantsAWholeFile) {
  std::string absent = folder / "absent";
  EXPECT_TRUE(
      says(messageOf(Exit::data, [&] { loadInitialWeights(absent, variables); }), {absent}));
  std::string other = folder.write("other", "no safetensors");
  EXPECT_TRUE(says(messageOf(Exit::data, [&] { openInitialWeights(other, variables); }), {other}));
}

} // namespace
} // namespace weir
