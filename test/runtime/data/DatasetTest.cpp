//===- DatasetTest.cpp - Binding inputs to data ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Dataset.h"
#include "test/runtime/TestFiles.h"
#include <cstring>

namespace weir {
namespace {

std::string idx(std::initializer_list<uint32_t> shape, const std::string &data) {
  std::string file{0, 0, 8, static_cast<char>(shape.size())};
  for (uint32_t size : shape)
    file += raw(size, true);
  return file + data;
}

template <typename T>
std::string npy(const std::string &descr, const std::string &shape, std::vector<T> values) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  std::string file =
      std::string("\x93NUMPY\x01\0", 8) + raw(static_cast<uint16_t>(header.size())) + header;
  for (T value : values)
    file += raw(value);
  return file;
}

const InputSpec images{"images", Element::u8, {2, 3}, 0, ""};
const InputSpec labels{"labels", Element::i32, {2}, 10, "classes"};
const InputSpec window{"window", Element::i32, {2, 4}, 5, "vocab"};

class DatasetTest : public ::testing::Test {
protected:
  Dataset bind(std::vector<InputSpec> inputs,
               std::vector<std::pair<std::string, std::string>> sources,
               const Vocabularies &vocabularies = {}) {
    std::vector<SourceSpec> specs;
    for (auto &[name, path] : sources)
      specs.push_back({name, path});
    return Dataset(std::move(inputs), specs, "--data", vocabularies);
  }
  template <typename... Arguments> std::string refused(Exit exit, Arguments... arguments) {
    return messageOf(exit, [&] { bind(arguments...); });
  }
  std::vector<int32_t> row(const Dataset &dataset, size_t input, int64_t position) {
    std::vector<int32_t> values(dataset.inputs()[input].rowElements());
    dataset.write(input, position, reinterpret_cast<std::byte *>(values.data()));
    return values;
  }
  TestFolder folder;
  std::string threeImages = folder.write("images.idx", idx({3, 3}, "abcdefghi"));
  std::string threeLabels = folder.write("labels.idx", idx({3}, std::string("\x01\x09\x00", 3)));
  using Sources = std::vector<std::pair<std::string, std::string>>;
};

TEST_F(DatasetTest, Arrays) {
  Dataset dataset = bind({images, labels}, {{"labels", threeLabels}, {"images", threeImages}});
  EXPECT_EQ(dataset.units(), 3);
  EXPECT_EQ(dataset.window(), 0);
  char pixels[3];
  dataset.write(0, 1, reinterpret_cast<std::byte *>(pixels));
  EXPECT_EQ(std::string(pixels, 3), "def");
  EXPECT_EQ(row(dataset, 1, 1), std::vector<int32_t>{9});
}

/// Numbers alone have the shape of the input.
TEST_F(DatasetTest, PlainNumbersAreRowsOfTheInput) {
  const InputSpec points{"points", Element::f32, {2, 3}, 0, ""};
  std::string numbers;
  for (float value : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f})
    numbers += raw(value);
  std::string path = folder.write("p.dat", numbers);
  Dataset dataset = bind({points}, {{"points", "f32:" + path}});
  EXPECT_EQ(dataset.units(), 2);
  float values[3];
  dataset.write(0, 1, reinterpret_cast<std::byte *>(values));
  EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(bind({images}, {{"images", "u8:" + folder.write("i", "abcdef")}}).window(), 3);
  EXPECT_EQ(bind({window},
                 {{"window", "i64:" + folder.write("t", raw(int64_t{1}) + raw(int64_t{2}) +
                                                            raw(int64_t{3}) + raw(int64_t{4}))}})
                .units(),
            4);
  EXPECT_EQ(bind({points}, {{"points", "f64:" + path}}).units(), 1);
  EXPECT_TRUE(says(refused(Exit::data, std::vector{points},
                           Sources{{"points", "f32:" + folder.write("q", numbers.substr(4))}}),
                   {"holds 5 numbers of f32, but a row of the input 'points' has 3, [3]"}));
  EXPECT_TRUE(says(refused(Exit::data, std::vector{points},
                           Sources{{"points", folder.write("t.txt", "some prose")}}),
                   {"Weir reads text as numbered characters, for an input of i32"}));
  EXPECT_TRUE(says(messageOf(Exit::usage, [] { parseSource("--data", "x=csv:none.csv"); }),
                   {"unknown format 'csv'", "the formats are text, bytes, idx"}));
  EXPECT_TRUE(says(messageOf(Exit::usage, [] { parseSource("--data", "x=txt:none"); }),
                   {"unknown format 'txt'; did you mean 'text'?"}));
}

TEST_F(DatasetTest, WideIntegersAreNarrowed) {
  auto path = folder.write("a.npy", npy<int64_t>("<i8", "(2, 4)", {0, 1, 2, 3, 4, 3, 2, 1}));
  EXPECT_EQ(row(bind({window}, Sources{{"window", path}}), 0, 1),
            (std::vector<int32_t>{4, 3, 2, 1}));
}

TEST_F(DatasetTest, Streams) {
  Dataset dataset = bind({window}, {{"window", folder.write("t.txt", "abcdeabcde")}});
  EXPECT_EQ(dataset.window(), 4);
  EXPECT_EQ(dataset.units(), 10);
  EXPECT_EQ(row(dataset, 0, 6), (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(dataset.vocabularies().at("window").text(), "abcde");
}

TEST_F(DatasetTest, SplitTakesTheLastPart) {
  Dataset dataset = bind({window}, {{"window", folder.write("t.txt", "abcdeabcdeabcdeabcde")}});
  auto [train, held] = dataset.split(0.3);
  EXPECT_EQ(train.units(), 14);
  EXPECT_EQ(held.units(), 6);
  EXPECT_EQ(held.coveringRows(), 1);
  EXPECT_EQ(row(held, 0, 0), (std::vector<int32_t>{4, 0, 1, 2}));
  auto rows = bind({images}, Sources{{"images", threeImages}}).split(0.34);
  EXPECT_EQ(rows.first.units(), 1);
  EXPECT_EQ(rows.second.coveringRows(), 2);
  EXPECT_TRUE(
      says(messageOf(Exit::data, [&] { dataset.split(0.1); }), {"2", "one window takes 4"}));
}

TEST_F(DatasetTest, Names) {
  EXPECT_TRUE(
      says(refused(Exit::usage, std::vector{images, labels}, Sources{{"imges", threeImages}}),
           {"no input 'imges'", "did you mean 'images'", "images, labels"}));
  EXPECT_TRUE(
      says(refused(Exit::usage, std::vector{images, labels}, Sources{{"images", threeImages}}),
           {"no data for the input 'labels'", "--data labels=PATH"}));
  EXPECT_TRUE(says(refused(Exit::usage, std::vector{images},
                           Sources{{"images", threeImages}, {"images", threeImages}}),
                   {"twice"}));
  EXPECT_TRUE(says(messageOf(Exit::usage, [] { parseSource("--data", "images"); }), {"NAME=PATH"}));
  EXPECT_TRUE(says(messageOf(Exit::usage, [] { parseSource("--data", "window=bytes:"); }),
                   {"--data window=bytes:: no file given", "--data window=bytes:PATH"}));
}

TEST_F(DatasetTest, Shapes) {
  EXPECT_TRUE(says(refused(Exit::data, std::vector{images}, Sources{{"images", threeLabels}}),
                   {"labels.idx", "u8[3]", "rows of [3]"}));
  auto two = folder.write("two.idx", idx({2}, "\x01\x02"));
  EXPECT_TRUE(says(refused(Exit::data, std::vector{images, labels},
                           Sources{{"images", threeImages}, {"labels", two}}),
                   {"two.idx", "2 rows", "3"}));
  auto none = folder.write("none.idx", idx({0, 3}, ""));
  EXPECT_TRUE(
      says(refused(Exit::data, std::vector{images}, Sources{{"images", none}}), {"no rows"}));
  auto shortText = folder.write("short.txt", "abc");
  EXPECT_TRUE(says(refused(Exit::data, std::vector{window}, Sources{{"window", shortText}}),
                   {"3 tokens", "windows of 4"}));
  Dataset few = bind({images}, {{"images", threeImages}});
  few.requireRows(3);
  EXPECT_TRUE(says(messageOf(Exit::data, [&] { few.requireRows(4); }), {"3 rows", "takes 4"}));
}

TEST_F(DatasetTest, Types) {
  InputSpec floats{"x", Element::f32, {2, 3}, 0, ""};
  EXPECT_TRUE(says(refused(Exit::data, std::vector{floats}, Sources{{"x", threeImages}}),
                   {"u8[3, 3]", "takes f32", "f32(x)"}));
  auto doubles = folder.write("d.npy", npy<double>("<f8", "(1, 3)", {0.5, 1, 2}));
  Dataset dataset = bind({floats}, {{"x", doubles}});
  float values[3];
  dataset.write(0, 0, reinterpret_cast<std::byte *>(values));
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_TRUE(says(refused(Exit::data, std::vector{InputSpec{"x", Element::i32, {2, 3}, 0, ""}},
                           Sources{{"x", doubles}}),
                   {"takes i32"}));
  // There are no inputs of truth values: integers are what such an array may be saved as.
  auto truths = folder.write("t.npy", npy<uint8_t>("|b1", "(1, 3)", {0, 1, 1}));
  EXPECT_TRUE(
      says(refused(Exit::data, std::vector{floats}, Sources{{"x", truths}}),
           {"declare the input u8 and convert it in the model: f32(x), and save it as integers"}));
  for (Element element : {Element::i32, Element::u8})
    EXPECT_TRUE(says(refused(Exit::data, std::vector{InputSpec{"x", element, {2, 3}, 0, ""}},
                             Sources{{"x", truths}}),
                     {"; save it as integers: .astype(\"uint8\") in NumPy"}));
}

TEST_F(DatasetTest, Limits) {
  auto bad = folder.write("bad.idx", idx({3}, std::string("\x01\x4d\x00", 3)));
  EXPECT_TRUE(says(
      refused(Exit::data, std::vector{labels}, Sources{{"labels", bad}}),
      {"bad.idx", "value 77 at position 1", "[0, 10)", "'classes' is 10", "--set classes=78"}));
  auto text = folder.write("t.txt", "abcdefg");
  EXPECT_TRUE(says(refused(Exit::data, std::vector{window}, Sources{{"window", text}}),
                   {"7 distinct characters", "[0, 5)", "--set vocab=7"}));
  auto negative = folder.write("n.npy", npy<int32_t>("<i4", "(1,)", {-1}));
  EXPECT_TRUE(says(refused(Exit::data, std::vector{labels}, Sources{{"labels", negative}}),
                   {"value -1", "negative"}));
  auto wide = folder.write("w.npy", npy<int64_t>("<i8", "(1,)", {int64_t{1} << 40}));
  EXPECT_TRUE(says(refused(Exit::data, std::vector{InputSpec{"n", Element::i32, {2}, 0, ""}},
                           Sources{{"n", wide}}),
                   {"1099511627776", "does not fit"}));
  // No compile can have so large a vocabulary.
  std::string tokens = folder.write(
      "wide.npy", npy<int64_t>("<i8", "(8,)", std::vector<int64_t>(8, (int64_t(1) << 32) + 5)));
  std::string said = refused(Exit::data, std::vector{window}, Sources{{"window", tokens}});
  EXPECT_TRUE(says(said, {"4294967301 is more than any vocabulary has: check the file's format"}));
  EXPECT_EQ(said.find("--set"), said.npos);
}

TEST_F(DatasetTest, AGivenVocabularyNumbersTheText) {
  Vocabularies vocabularies{{"window", Vocabulary({'a', 'b', 'c', 'd', 'e'})}};
  Dataset dataset = bind({window}, {{"window", folder.write("t.txt", "eeeee")}}, vocabularies);
  EXPECT_EQ(row(dataset, 0, 0), (std::vector<int32_t>{4, 4, 4, 4}));
}

} // namespace
} // namespace weir
