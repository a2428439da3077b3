//===- ReadersTest.cpp - The formats data comes in, whole and broken ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Readers.h"
#include "test/runtime/TestFiles.h"
#include <numeric>

namespace weir {
namespace {

std::string idx(uint8_t type, std::initializer_list<uint32_t> shape, const std::string &data) {
  std::string file{0, 0, static_cast<char>(type), static_cast<char>(shape.size())};
  for (uint32_t size : shape)
    file += raw(size, true);
  return file + data;
}

std::string npy(const std::string &dictionary, const std::string &data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  file += version == 1 ? raw(static_cast<uint16_t>(dictionary.size()))
                       : raw(static_cast<uint32_t>(dictionary.size()));
  return file + dictionary + data;
}

std::string llmc(int32_t magic, int32_t version, int32_t count, const std::string &tokens) {
  std::string file = raw(magic) + raw(version) + raw(count);
  file.resize(1024);
  return file + tokens;
}

class Readers : public ::testing::Test {
protected:
  Array open(const std::string &name, const std::string &content) {
    return openSource(folder.write(name, content));
  }
  std::string refused(const std::string &name, const std::string &content) {
    return messageOf(Exit::data, [&] { open(name, content); });
  }
  TestFolder folder;
};

TEST_F(Readers, IdxImages) {
  Array array = open("train-images.idx3-ubyte", idx(8, {2, 1, 3}, "abcdef"));
  EXPECT_EQ(array.format, "idx");
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(integerAt(array, 4), 'e');
}

TEST_F(Readers, IdxIsKnownByItsContent) {
  EXPECT_EQ(open("digits", idx(8, {2}, "ab")).format, "idx");
}

TEST_F(Readers, IdxIsBigEndian) {
  EXPECT_EQ(integerAt(open("x.idx", idx(0x0C, {2}, raw(7, true) + raw(-8, true))), 1), -8);
  EXPECT_EQ(integerAt(open("x.idx", idx(0x0B, {1}, raw(int16_t{-300}, true))), 0), -300);
}

TEST_F(Readers, BrokenIdx) {
  EXPECT_TRUE(
      says(refused("a.idx", idx(8, {2, 3}, "abcde")), {"a.idx", "[2, 3]", "6 bytes", "5 follow"}));
  EXPECT_TRUE(says(refused("b.idx", idx(8, {2, 3}, "abcdefg")), {"7 follow"}));
  EXPECT_TRUE(says(refused("c.idx", idx(0x77, {1}, "a")), {"element type 119"}));
  EXPECT_TRUE(says(refused("d.idx", std::string("\0\0\x08\x09", 4)), {"9 dimensions"}));
  EXPECT_TRUE(
      says(refused("e.idx", std::string("\0\0\x08\x02\0\0", 6)), {"12 bytes expected, 6 found"}));
  EXPECT_TRUE(says(refused("f-ubyte", "text, in truth"), {"two zero bytes", "supported are"}));
  EXPECT_TRUE(says(refused("g.idx", "ab"), {"2 bytes"}));
  uint32_t huge = 0xFFFFFFFF;
  EXPECT_TRUE(says(refused("h.idx", idx(8, {huge, huge, huge, huge}, "a")), {"too many bytes"}));
}

TEST_F(Readers, NpyVersions) {
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }   \n";
  std::string data = raw(int16_t{1}) + raw(int16_t{-2}) + raw(int16_t{3}) + raw(int16_t{4});
  for (int version : {1, 2, 3}) {
    Array array = open("a.npy", npy(header, data, version));
    EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(integerAt(array, 1), -2);
  }
}

TEST_F(Readers, NpyTypes) {
  struct {
    const char *descr;
    Element element;
    size_t size;
  } types[] = {{"|u1", Element::u8, 1},  {"|i1", Element::i8, 1},  {"<u2", Element::u16, 2},
               {"<i4", Element::i32, 4}, {"<i8", Element::i64, 8}, {"<f4", Element::f32, 4},
               {"<f8", Element::f64, 8}, {"|b1", Element::b8, 1}};
  for (auto type : types) {
    std::string header =
        std::string("{'descr': '") + type.descr + "', 'fortran_order': False, 'shape': (3,), }";
    EXPECT_EQ(open("a.npy", npy(header, std::string(3 * type.size, 1))).element, type.element);
  }
}

TEST_F(Readers, BrokenNpy) {
  auto header = [](const char *descr, const char *order, const char *shape) {
    return std::string("{'descr': ") + descr + ", 'fortran_order': " + order +
           ", 'shape': " + shape + ", }";
  };
  EXPECT_TRUE(says(refused("a.npy", npy(header("'<i4'", "False", "(3,)"), "short")),
                   {"[3] of i32", "12 bytes", "5 follow"}));
  EXPECT_TRUE(says(refused("b.npy", npy(header("'<i4'", "True", "(2, 2)"), std::string(16, 0))),
                   {"ascontiguousarray"}));
  EXPECT_TRUE(says(refused("c.npy", npy(header("'<c8'", "False", "(1,)"), std::string(8, 0))),
                   {"'<c8'", "astype"}));
  EXPECT_TRUE(
      says(refused("d.npy", npy(header("[('a', '<i4')]", "False", "(1,)"), "abcd")), {"fields"}));
  EXPECT_TRUE(
      says(refused("e.npy", npy(header("'<i4'", "False", "()"), "abcd")), {"single number"}));
  EXPECT_TRUE(says(refused("f.npy", npy(header("'<i4'", "False", "(99999999999999999999,)"), "")),
                   {"63 bits"}));
  EXPECT_TRUE(says(refused("g.npy", npy(header("'<i8'", "False", "(4611686018427387904, 4)"), "")),
                   {"too many"}));
  EXPECT_TRUE(says(refused("h.npy", npy("{'descr': '<i4'", "")), {"broken header"}));
  EXPECT_TRUE(says(refused("i.npy", npy("{'descr': '<i4', }", "")), {"header"}));
  EXPECT_TRUE(
      says(refused("j.npy", npy(header("'<i4'", "False", "(1,)"), "abcd", 9)), {"version 9"}));
  EXPECT_TRUE(says(refused("k.npy", "\x93NUMPY\x01"), {"magic"}));
  std::string cut = npy(header("'<i4'", "False", "(1,)"), "");
  EXPECT_TRUE(says(refused("l.npy", cut.substr(0, 30)), {"ends within its header"}));
  EXPECT_TRUE(says(refused("m.npy", npy(header("'<i4'", "False", "(-1,)"), "")), {"size"}));
}

TEST_F(Readers, NanoGptTokens) {
  Array array = open("train.bin", raw(uint16_t{5}) + raw(uint16_t{50000}));
  EXPECT_EQ(array.format, "nanogpt");
  EXPECT_EQ(array.shape, std::vector<int64_t>{2});
  EXPECT_EQ(integerAt(array, 1), 50000);
}

TEST_F(Readers, LlmcTokens) {
  Array small = open("a.bin", llmc(20240520, 1, 2, raw(uint16_t{7}) + raw(uint16_t{8})));
  EXPECT_EQ(small.format, "llm.c");
  EXPECT_EQ(integerAt(small, 1), 8);
  Array large = open("b.bin", llmc(20240801, 7, 1, raw(uint32_t{100000})));
  EXPECT_EQ(integerAt(large, 0), 100000);
}

TEST_F(Readers, BrokenTokens) {
  EXPECT_TRUE(says(refused("odd.bin", "abc"), {"odd.bin", "3 bytes", "odd"}));
  EXPECT_TRUE(says(refused("a.bin", llmc(20240520, 2, 1, "ab")), {"version 2"}));
  EXPECT_TRUE(says(refused("b.bin", llmc(20240520, 1, 2, "ab")), {"2 tokens", "1026 bytes"}));
  EXPECT_TRUE(says(refused("c.bin", llmc(20240801, 7, -1, "")), {"-1 tokens"}));
  EXPECT_TRUE(says(refused("d.bin", llmc(20240520, 1, 1, "").substr(0, 100)), {"100 bytes"}));
  EXPECT_TRUE(says(refused("e.bin", llmc(20240326, 3, 1, "")), {"model", "not a token file"}));
}

TEST_F(Readers, TextIsNumberedByItsSortedCharacters) {
  Array array = open("a.txt", "hällo");
  EXPECT_EQ(array.format, "text");
  EXPECT_EQ(array.vocabulary->text(), "hloä");
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < array.count(); ++i)
    numbers.push_back(integerAt(array, i));
  EXPECT_EQ(numbers, (std::vector<int64_t>{0, 3, 1, 1, 2}));
}

TEST_F(Readers, TextByAGivenVocabulary) {
  Vocabulary vocabulary({'a', 'b', 'c'});
  EXPECT_EQ(integerAt(openSource(folder.write("a.txt", "cc"), &vocabulary), 0), 2);
  std::string message =
      messageOf(Exit::data, [&] { openSource(folder.write("b.txt", "abx"), &vocabulary); });
  EXPECT_TRUE(says(message, {"b.txt", "'x' (U+0078)", "byte 2", "the 3"}));
}

TEST_F(Readers, WhatIsNoFormat) {
  EXPECT_TRUE(says(refused("a.txt", "ab\xff"), {"byte 2", "supported are", "bytes:PATH"}));
  EXPECT_TRUE(says(refused("b.idx.gz", "\x1f\x8b\x08"), {"gz"}));
  EXPECT_TRUE(says(refused("empty.txt", ""), {"empty.txt", "empty"}));
  EXPECT_TRUE(says(messageOf(Exit::data, [&] { openSource(folder / "absent"); }),
                   {"absent", "No such file"}));
  EXPECT_TRUE(
      says(messageOf(Exit::data, [&] { openSource(folder.path.string()); }), {"is a directory"}));
}

TEST_F(Readers, BytesOfAnyFile) {
  Array array = openSource("bytes:" + folder.write("a.npy", "\xff\x01"));
  EXPECT_EQ(array.format, "bytes");
  EXPECT_EQ(integerAt(array, 0), 255);
}

} // namespace
} // namespace weir
