//===- WeightsTest.cpp - What a model begins with -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Weights.h"
#include "support/Text.h"
#include "test/runtime/TestFiles.h"
#include "test/runtime/core/HostDevice.h"
#include <cstring>
#include <limits>
#include <list>

namespace weir {
namespace {

class WeightsTest : public ::testing::Test {
protected:
  WeightsTest() {
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
    variables.push_back({name, Element::f32, shape, role, 4 * count, &device,
                         HostDevice::addressOf(storage.back().data())});
  }
  std::string write(const std::vector<StoredTensor> &tensors) {
    std::string path = folder / concat("init-", ++files, ".safetensors");
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
  /// Weights of a file of these tensors.
  Weights of(const std::vector<StoredTensor> &tensors) { return {write(tensors), say}; }
  /// All that a model needs, as --init asks for it.
  void load(const Weights &weights) {
    weights.requireAll(variables, /*states=*/false);
    weights.load(variables);
  }
  /// A checkpoint of the model, its values 1 to 4, in runs/.
  std::string save() {
    Manifest manifest;
    manifest.step = 7;
    manifest.totalSteps = 10;
    manifest.model = "other";
    CheckpointStore store(folder / "runs", 3, disk);
    store.prepare(1);
    return store.save(manifest, {tensor("w", {2, 2}, 1), tensor("b", {2}, 2)},
                      {tensor("norm.mean", {2}, 3), tensor("adamw.m/w", {2, 2}, 4)});
  }
  HostDevice device;
  TestFolder folder;
  Disk disk;
  int files = 0;
  Weights::Say say = [this](const std::string &line) { said.push_back(line); };
  std::vector<std::string> said;
  std::list<std::vector<float>> storage, values;
  std::vector<TensorView> variables;
  std::vector<float> &stored(size_t i) { return *std::next(storage.begin(), i); }
};

TEST_F(WeightsTest, LoadsByName) {
  load(of({tensor("b", {2}, 2), tensor("w", {2, 2}, 1)}));
  EXPECT_EQ(stored(0), std::vector<float>(4, 1));
  EXPECT_EQ(stored(1), std::vector<float>(2, 2));
  EXPECT_EQ(stored(2), std::vector<float>(2, -1));
}

TEST_F(WeightsTest, LoadsBlockStatesThatAreThere) {
  load(of({tensor("b", {2}, 2), tensor("norm.mean", {2}, 3), tensor("w", {2, 2}, 1)}));
  EXPECT_EQ(stored(2), std::vector<float>(2, 3));
}

TEST_F(WeightsTest, LoadsACheckpointAndTheNewestOfARun) {
  std::string checkpoint = save();
  for (const std::string &path : {checkpoint, folder / "runs"}) {
    for (std::vector<float> &values : storage)
      std::fill(values.begin(), values.end(), -1);
    Weights weights(path, say);
    EXPECT_EQ(weights.path(), checkpoint);
    ASSERT_TRUE(weights.manifest());
    EXPECT_EQ(weights.manifest()->step, 7);
    weights.requireAll(variables, /*states=*/true);
    weights.load(variables);
    EXPECT_EQ(stored(0), std::vector<float>(4, 1));
    EXPECT_EQ(stored(1), std::vector<float>(2, 2));
    EXPECT_EQ(stored(2), std::vector<float>(2, 3));
    EXPECT_EQ(stored(3), std::vector<float>(4, -1)); // the optimizer begins anew
  }
  folder.write("runs/step-00000007/model.safetensors", "broken");
  EXPECT_TRUE(
      says(messageOf(Exit::storage, [&] { Weights(checkpoint, say); }), {"incomplete or damaged"}));
}

TEST_F(WeightsTest, ListsEveryDifference) {
  Weights weights = of({tensor("bb", {2}, 2), tensor("w", {4}, 1), tensor("extra", {1}, 1)});
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { load(weights); }),
                   {weights.path(), "missing: b F32[2]", "unexpected: bb F32[2]",
                    "unexpected: extra F32[1]",
                    "shape mismatch: w is F32[4] in the file, F32[2, 2] in the model"}));
  EXPECT_EQ(stored(0), std::vector<float>(4, -1));
}

TEST_F(WeightsTest, SaysWhetherTypesOrShapesDiffer) {
  StoredTensor w = tensor("w", {4}, 1), b = tensor("b", {2}, 2);
  w.dtype = "I64";
  w.shape = {2};
  b.dtype = "I32";
  Weights weights = of({b, w});
  std::string type = "type mismatch: b is I32[2] ", both = "type and shape mismatch: w is I64[2] ";
  std::string message = messageOf(Exit::model, [&] { load(weights); });
  EXPECT_TRUE(says(message, {type + "in the file, F32[2] in the model",
                             both + "in the file, F32[2, 2] in the model"}));
  message = messageOf(Exit::model, [&] { weights.overlap(variables); });
  EXPECT_TRUE(
      says(message, {type + "in the file, F32[2] in the model",
                     both + "in the file, F32[2, 2] in the model", "convert other types to F32"}));
  EXPECT_FALSE(says(message, {"  shape mismatch:"}));
}

// 1 + 2^-9 is between two of bf16, 1 + 2^-7 is one.
TEST_F(WeightsTest, MastersAreConverted) {
  std::vector<uint16_t> narrow(4, 0x3F81);
  StoredTensor w{"w", "BF16", {2, 2}, reinterpret_cast<const std::byte *>(narrow.data()), 8};
  Weights widened = of({w, tensor("b", {2}, 2)});
  load(widened);
  EXPECT_EQ(stored(0), std::vector<float>(4, 1 + 0x1p-7f));
  EXPECT_EQ(widened.rounded(variables), "");

  variables[0].element = Element::bf16;
  variables[0].size = 8;
  Weights rounded = of({tensor("w", {2, 2}, 1 + 0x1p-9f), tensor("b", {2}, 2)});
  load(rounded);
  uint16_t bits[4];
  std::memcpy(bits, stored(0).data(), sizeof bits);
  for (uint16_t one : bits)
    EXPECT_EQ(one, 0x3F80);
  EXPECT_TRUE(says(rounded.rounded(variables), {"1 tensor is of f32, and Weir rounds it to bf16"}));
  w.shape = {4};
  Weights other = of({w, tensor("b", {2}, 2)});
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { load(other); }),
                   {"shape mismatch: w is BF16[4] in the file, BF16[2, 2] in the model"}));
}

/// 1 + 2^-10 is a number of f16 and rounded in bf16; 1 + 2^-40 is rounded in f32.
TEST_F(WeightsTest, HalfAndDoubleAreConverted) {
  std::vector<uint16_t> half = {0x3C01, 0xBC01, 0x0001, 0x7BFF};
  StoredTensor w{"w", "F16", {2, 2}, reinterpret_cast<const std::byte *>(half.data()), 8};
  std::vector<double> wide = {1 + 0x1p-40, -1e300};
  StoredTensor b{"b", "F64", {2}, reinterpret_cast<const std::byte *>(wide.data()), 16};
  Weights weights = of({w, b});
  load(weights);
  EXPECT_EQ(stored(0), (std::vector<float>{1 + 0x1p-10f, -1 - 0x1p-10f, 0x1p-24f, 65504}));
  // No f32 is near it: a run reports what is not finite.
  EXPECT_EQ(stored(1), (std::vector<float>{1, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(weights.rounded(variables),
            weights.path() + ": 1 tensor is of f64, and Weir rounds it to f32");
  variables[0].element = Element::bf16;
  variables[0].size = 8;
  load(weights);
  uint16_t bits[4];
  std::memcpy(bits, stored(0).data(), sizeof bits);
  EXPECT_EQ(bits[0], 0x3F80);
  EXPECT_EQ(bits[1], 0xBF80);
  EXPECT_TRUE(says(weights.rounded(variables),
                   {"1 tensor is of f16, and Weir rounds it to bf16 (--param-dtype bf16)",
                    "1 tensor is of f64, and Weir rounds it to f32"}));
  half.assign(4, 1);
  w.dtype = "I16";
  Weights whole = of({w, b});
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { load(whole); }),
                   {"type mismatch: w is I16[2, 2] in the file", "F64, F32, F16 and BF16"}));
}

TEST_F(WeightsTest, BuffersOfOtherFrameworksAreNoWeights) {
  int64_t counter = 9;
  StoredTensor tracked{
      "bn.num_batches_tracked", "I64", {}, reinterpret_cast<const std::byte *>(&counter), 8};
  Weights weights =
      of({tensor("w", {2, 2}, 1), tensor("b", {2}, 2), tracked,
          tensor("h.0.attn.bias", {1, 1, 3, 3}, 1), tensor("rotary.inv_freq", {2}, 1)});
  load(weights);
  EXPECT_EQ(weights.buffers(variables),
            (std::vector<std::string>{"bn.num_batches_tracked I64[]",
                                      "h.0.attn.bias F32[1, 1, 3, 3]", "rotary.inv_freq F32[2]"}));
  EXPECT_EQ(weights.overlap(variables).unused.size(), 3u);
  // A bias of another shape is none, and neither is what the model has itself.
  Weights other = of({tensor("w", {2, 2}, 1), tensor("b", {2}, 2), tensor("x.bias", {3, 3}, 1)});
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { load(other); }), {"unexpected: x.bias F32[3, 3]"}));
}

TEST_F(WeightsTest, NamesTheFirstFewOfManyDifferences) {
  std::vector<StoredTensor> many;
  for (int i = 0; i < 20000; ++i)
    many.push_back(
        tensor("layer." + std::to_string(i) + std::string(300, 'x') + "\x1b[2J", {1}, 0));
  Weights weights = of(many);
  std::string message = messageOf(Exit::model, [&] { load(weights); });
  EXPECT_LT(message.size(), 10000u);
  EXPECT_TRUE(says(message, {"missing: w", "unexpected: layer.0xxx", "and 19982 more"}));
  EXPECT_EQ(message.find('\x1b'), message.npos);
}

TEST_F(WeightsTest, AskedForStatesThatAreAbsentItSaysSo) {
  Weights weights = of({tensor("b", {2}, 2), tensor("w", {2, 2}, 1)});
  EXPECT_TRUE(
      says(messageOf(Exit::model, [&] { weights.requireAll(variables, /*states=*/true); }),
           {"missing: norm.mean F32[2]",
            "\n--init-partial loads the tensors that both have, and initializes the others"}));
  add("norm.var", {2}, artifact::Role::state);
  Weights checkpoint(save(), say);
  EXPECT_TRUE(
      says(messageOf(Exit::model, [&] { checkpoint.requireAll(variables, /*states=*/true); }),
           {"is a checkpoint of another model (other)", "missing: norm.var F32[2]"}));
}

TEST_F(WeightsTest, TakesWhatTheModelHas) {
  Weights weights = of({tensor("w", {2, 2}, 1), tensor("bb", {2}, 2)});
  Weights::Overlap overlap = weights.overlap(variables);
  EXPECT_EQ(overlap.taken, (std::vector<std::string>{"w F32[2, 2]"}));
  EXPECT_EQ(overlap.kept, (std::vector<std::string>{"b F32[2]", "norm.mean F32[2]"}));
  EXPECT_EQ(overlap.unused, (std::vector<std::string>{"bb F32[2]"}));
  weights.load(variables);
  EXPECT_EQ(stored(0), std::vector<float>(4, 1));
  EXPECT_EQ(stored(1), std::vector<float>(2, -1));
}

TEST_F(WeightsTest, TakesNothingOfAnotherShapeAndNotNothing) {
  Weights other = of({tensor("w", {4}, 1), tensor("b", {2}, 2)});
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { other.overlap(variables); }),
                   {"shape mismatch: w is F32[4] in the file, F32[2, 2] in the model"}));
  Weights none = of({tensor("wte", {4}, 1)});
  EXPECT_TRUE(says(messageOf(Exit::model, [&] { none.overlap(variables); }),
                   {"contains none of the model's tensors", "wte F32[4]", "norm.mean F32[2]"}));
}

TEST_F(WeightsTest, HintsAtAFewOfManyThatTheModelHasNot) {
  add("layer.weight", {1}, artifact::Role::parameter);
  std::vector<StoredTensor> many = {tensor("w", {2, 2}, 1)};
  for (int i = 0; i < 1000; ++i)
    many.push_back(tensor(concat("layer.weigh", i), {1}, 0));
  Weights::Overlap overlap = of(many).overlap(variables);
  EXPECT_EQ(overlap.unused.size(), 1000u);
  EXPECT_EQ(
      std::count_if(overlap.unused.begin(), overlap.unused.end(),
                    [](const std::string &line) { return line.find("did you mean") != line.npos; }),
      20);
}

TEST_F(WeightsTest, ShowsLongNamesShort) {
  std::string endless(100'000, 'x');
  Weights unlike = of({tensor(endless, {1}, 0)});
  EXPECT_LT(messageOf(Exit::model, [&] { unlike.overlap(variables); }).size(), 1000u);
  add(endless, {1}, artifact::Role::parameter);
  Weights other = of({tensor(endless, {2}, 0)});
  EXPECT_LT(messageOf(Exit::model, [&] { other.overlap(variables); }).size(), 1000u);
  Manifest manifest;
  manifest.totalSteps = 1;
  manifest.model = endless;
  CheckpointStore store(folder / "long", 3, disk);
  store.prepare(1);
  store.save(manifest, {tensor("w", {1}, 0)}, {});
  Weights checkpoint(folder / "long", say);
  EXPECT_LT(messageOf(Exit::model, [&] { load(checkpoint); }).size(), 1000u);
}

TEST_F(WeightsTest, WantsAWholeFileOrADirectoryWithACheckpoint) {
  std::string absent = folder / "absent";
  EXPECT_TRUE(says(messageOf(Exit::data, [&] { Weights(absent, say); }), {absent}));
  std::string other = folder.write("other", "no safetensors");
  EXPECT_TRUE(says(messageOf(Exit::data, [&] { Weights(other, say); }), {other}));
  std::string empty = folder / "";
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { Weights(empty, say); }), {"no checkpoint"}));
}

} // namespace
} // namespace weir
