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
  EXPECT_TRUE(
      says(refused("f-ubyte", "text, in truth"), {"two zero bytes", "the supported formats are"}));
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
  EXPECT_TRUE(says(refused("odd.bin", "abc"),
                   {"odd.bin: has 3 bytes, which is no whole number of u16 values"}));
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
  EXPECT_TRUE(
      says(refused("a.txt", "ab\xff"), {"byte 2", "the supported formats are", "bytes:PATH"}));
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

TEST_F(Readers, TheFormatBeforeThePathCounts) {
  std::string four = raw(int32_t{-1}) + raw(int32_t{70000});
  std::string path = folder.write("t.bin", four);
  struct {
    const char *format;
    std::vector<int64_t> values;
  } wholes[] = {{"i32", {-1, 70000}},
                {"u32", {4294967295, 70000}},
                {"u16", {65535, 65535, 4464, 1}},
                {"i16", {-1, -1, 4464, 1}},
                {"i64", {70000 * (int64_t{1} << 32) + 4294967295}},
                {"u8", {255, 255, 255, 255, 112, 17, 1, 0}},
                {"i8", {-1, -1, -1, -1, 112, 17, 1, 0}},
                {"bytes", {255, 255, 255, 255, 112, 17, 1, 0}}};
  for (const auto &[format, values] : wholes) {
    Array array = openSource(std::string(format) + ":" + path);
    EXPECT_EQ(array.format, std::string(format) == "u16" ? "nanogpt" : format);
    EXPECT_TRUE(array.isPlain);
    std::vector<int64_t> found;
    for (int64_t i = 0; i < array.count(); ++i)
      found.push_back(integerAt(array, i));
    EXPECT_EQ(found, values) << format;
    EXPECT_EQ(pathOf(std::string(format) + ":" + path), path);
  }
  EXPECT_EQ(openSource("f32:" + path).element, Element::f32);
  EXPECT_EQ(openSource("f64:" + path).shape, std::vector<int64_t>{1});
  EXPECT_EQ(openSource("f16:" + path).count(), 4);
  EXPECT_EQ(openSource("text:" + folder.write("n.csv", "1,2\n")).vocabulary->text(), "\n,12");
  EXPECT_EQ(openSource("idx:" + folder.write("n.bin", idx(8, {2}, "ab"))).format, "idx");
  EXPECT_TRUE(
      says(messageOf(Exit::data, [&] { openSource("i64:" + folder.write("o", "123456789")); }),
           {"9 bytes, which is no whole number of i64 values of 8 bytes"}));
  EXPECT_TRUE(says(messageOf(Exit::data, [&] { openSource("llm.c:" + path); }),
                   {"does not have the header of llm.c's token files"}));
  EXPECT_EQ(unknownFormat("csv:" + path), "csv");
  for (const std::string &location : {"u32:" + path, path, std::string("a/b:c"), "npy:" + path})
    EXPECT_EQ(unknownFormat(location), "");
}

namespace {

/// `count` tokens, each the type's, of what `next` makes of a number from 0 to 32767.
template <typename Token, typename Next> std::string tokensOf(size_t count, Next next) {
  std::string bytes;
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    bytes += raw(static_cast<Token>(next(int64_t(state >> 16 & 0x7fff), i)));
  }
  return bytes;
}

} // namespace

TEST_F(Readers, TokensOfTwoBytes) {
  for (int64_t vocabulary : {50257, 32768, 256, 65, 17, 16, 8, 2}) {
    auto next = [&](int64_t number, size_t) { return number * vocabulary / 32768; };
    for (size_t count : {5000, 100000, 64})
      EXPECT_EQ(open("a.bin", tokensOf<uint16_t>(count, next)).format, "nanogpt")
          << vocabulary << " " << count;
  }
  for (int64_t constant : {0, 1, 15, 16, 300, 50256}) {
    auto next = [&](int64_t, size_t) { return constant; };
    EXPECT_EQ(open("a.bin", tokensOf<uint16_t>(500, next)).format, "nanogpt") << constant;
  }
  // Small tokens with one that is large, or all ones, between them; an odd number of any.
  auto rare = [](int64_t number, size_t i) { return i == 40 ? 500 : number % 8; };
  EXPECT_EQ(open("a.bin", tokensOf<uint16_t>(500, rare)).format, "nanogpt");
  auto marked = [](int64_t number, size_t i) { return i % 10 ? number % 8 : 0xffff; };
  EXPECT_EQ(open("a.bin", tokensOf<uint16_t>(500, marked)).format, "nanogpt");
  auto alternating = [](int64_t number, size_t i) { return i % 2 ? 0 : number; };
  EXPECT_EQ(open("a.bin", tokensOf<uint16_t>(501, alternating)).format, "nanogpt");
}

TEST_F(Readers, WiderTokensAreNotTakenForTwoBytes) {
  auto refusedAs = [&](const std::string &type, const std::string &tokens) {
    EXPECT_TRUE(says(refused("a.bin", tokens),
                     {"its tokens seem to have " + std::string(type == "i64" ? "64" : "32") +
                          " bits each; give the format: " + type + ":",
                      "or u16:"}))
        << type;
  };
  // All tokens above 65536, some of them, and none; labels that do not count; small vocabularies.
  auto above = [](int64_t number, size_t) { return 99000 + number * 52000 / 32768; };
  auto some = [](int64_t number, size_t i) { return i % 50 ? number : number + 100000; };
  auto below = [](int64_t number, size_t) { return number; };
  auto labels = [](int64_t number, size_t i) { return i % 50 ? number : -100; };
  auto few = [](int64_t number, size_t) { return 1 + number % 7; };
  auto fewLabels = [](int64_t number, size_t i) { return i % 50 ? number % 8 : -1; };
  for (size_t count : {5000, 70000}) {
    refusedAs("u32", tokensOf<uint32_t>(count, above));
    refusedAs("u32", tokensOf<uint32_t>(count, some));
    refusedAs("u32", tokensOf<uint32_t>(count, below));
    refusedAs("u32", tokensOf<uint32_t>(count, few));
    refusedAs("i32", tokensOf<int32_t>(count, labels));
    refusedAs("i32", tokensOf<int32_t>(count, fewLabels));
    refusedAs("i64", tokensOf<int64_t>(count, above));
    refusedAs("i64", tokensOf<int64_t>(count, some));
    refusedAs("i64", tokensOf<int64_t>(count, below));
    refusedAs("i64", tokensOf<int64_t>(count, labels));
    refusedAs("i64", tokensOf<int64_t>(count, few));
    refusedAs("i64", tokensOf<int64_t>(count, fewLabels));
  }
  EXPECT_TRUE(says(refused("a.bin", "To be, or not to be, that is the question:\n"),
                   {"is named .bin", "but contains text; give the format: text:"}));
}

TEST_F(Readers, OtherFormatsAreNamed) {
  auto zip = [](const std::string &first) {
    std::string header("PK\3\4", 4);
    header.resize(26);
    return header + raw(static_cast<uint16_t>(first.size())) + raw(uint16_t{0}) + first + "content";
  };
  std::string tensors = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  struct {
    std::string content, said;
  } cases[] = {
      {zip("x.npy"), "is a .npz file with several arrays; save each in Python"},
      {zip("archive/data.pkl"), "is a torch.save file; save each tensor in Python"},
      {zip("notes.txt"), "is a zip archive; unpack it first"},
      {std::string("\x80\2}q\0.", 6), "is a Python pickle"},
      {"\x1f\x8b\x08\x08 rest", "is compressed with gzip; run gunzip on it first"},
      {"BZh91AY&SY rest", "is compressed with bzip2"},
      {std::string("\xfd"
                   "7zXZ\0 rest",
                   11),
       "is compressed with xz"},
      {"\x28\xb5\x2f\xfd rest", "is compressed with zstd"},
      {raw(uint64_t{tensors.size()}) + tensors + "abcd",
       "is a safetensors file; it holds weights, which --init reads"},
      {"PAR1 rest PAR1", "is a Parquet file"},
      {"\x89HDF\r\n", "is an HDF5 file"},
      {"\x89PNG\r\n", "is a PNG image"},
      {std::string("\xff\xfe"
                   "a\0b\0",
                   6),
       "is text in UTF-16, but Weir reads UTF-8; convert it: iconv"},
      {std::string("\xff\xfe\0\0a\0\0\0", 8), "is text in UTF-32"},
      {std::string("t\0o\0 \0b\0e\0", 10),
       "contains zero bytes, which text does not; if it is text in UTF-16"},
      {std::string("to be\0or not", 12),
       "zero bytes, which text does not; if it is text in UTF-16"},
  };
  // Whatever the name says.
  for (const auto &[content, said] : cases)
    for (const char *name : {"x.dat", "x.npy", "x.txt"})
      if (said.find("UTF") == said.npos || name != std::string("x.npy"))
        EXPECT_TRUE(says(refused(name, content), {said})) << said;
  EXPECT_TRUE(says(refused("t10k.idx3-ubyte", "\x1f\x8b\x08\x08 rest"), {"gunzip"}));
  EXPECT_EQ(open("begins.txt", "PARAGRAPH 1\nGGUF\n").format, "text");
}

TEST_F(Readers, TablesAreNoTexts) {
  struct {
    const char *name, *content, *what;
  } cases[] = {
      {"a.csv", "label,text\n1,hello\n", "is a table"},
      {"a.tsv", "label\ttext\n", "is a table"},
      {"a.json", "[\"x\"]", "is JSON"},
      {"a.jsonl", "{}\n", "is JSON"},
      {"records", "{\"text\": \"to be\"}\n{\"text\": \"or not\"}\n", "is JSON"},
      {"list.txt", "[1, 2,\n 3]\n", "is JSON"},
      {"pretty.txt", "{\n  \"a\": [1, 2]\n}\n", "is JSON"},
      {"numbers.txt", "1 2 3\n4 5 6\n", "is a text file of numbers"},
      {"floats.dat", "0.5,-1e-3\r\n2,3\r\n", "is a text file of numbers"},
  };
  for (const auto &[name, content, what] : cases) {
    std::string message = refused(name, content);
    EXPECT_TRUE(says(message, {what, "which Weir would read as characters", "text:"})) << name;
    EXPECT_EQ(openSource("text:" + folder.write(name, content)).format, "text");
  }
  for (const char *text : {"[ACT I]\nTo be", "{ what }\n", "12 men sat\n", "7", "x = [1, 2]\n"})
    EXPECT_EQ(open("prose.txt", text).format, "text") << text;
}

TEST_F(Readers, EndingsInCapitals) {
  EXPECT_TRUE(says(refused("DATA.CSV", "label,text\n1,hello\n"), {"DATA.CSV: is a table"}));
  EXPECT_TRUE(says(refused("Data.Json", "\"x\""), {"Data.Json: is JSON"}));
  EXPECT_TRUE(says(refused("A.NPY", "text"), {"A.NPY"}));
  EXPECT_EQ(open("TRAIN.BIN", raw(uint16_t{5}) + raw(uint16_t{50000})).format, "nanogpt");
  EXPECT_EQ(open("B.Bin", llmc(20240520, 1, 1, raw(uint16_t{7}))).format, "llm.c");
  EXPECT_TRUE(says(refused("T10K.IDX3-UBYTE", "text, in truth"), {"two zero bytes"}));
}

/// What is looked at ends somewhere within a long file, in the middle of whatever is there.
TEST_F(Readers, LongJsonIsNoText) {
  const std::string value = R"("a \"quoted\" text, hällo \u00e4")";
  std::string line, lines, numbers;
  for (int i = 0; i < 4000; ++i) {
    std::string key = "\"key" + std::to_string(i) + "\": ";
    line += key + "[" + value + ", -12.5e3, true, null, {}], ";
    lines += "  " + key + "{\n    \"text\": " + value + ",\n    \"n\": 12.25\n  },\n";
    numbers += "[" + std::to_string(i) + ", 0.125],\n";
  }
  line += "\"last\": 1";
  ASSERT_GT(line.size(), size_t{2} << 16);
  std::string long1 = "{\"text\": \"" + std::string(100000, 'x') + "\"}\n{\"text\": \"y\"}\n";
  // Wherever the cut is: in a string, an escape, a character of two bytes, a number or a word.
  for (size_t shift = 0; shift < 100; ++shift) {
    std::string before(shift, ' ');
    for (const std::string &json :
         {before + "{" + line + "}", before + "{\n" + lines + "  \"last\": 1\n}\n"})
      EXPECT_TRUE(says(refused("long.txt", json), {"is JSON, which Weir would read"})) << shift;
  }
  for (const std::string &json :
       {"[\n" + numbers + "[7, \"x\"]]", "[{" + line + "}]", long1, "\xEF\xBB\xBF{" + line + "}"})
    EXPECT_TRUE(says(refused("long", json), {"is JSON, which Weir would read"}))
        << json.substr(0, 9);
  // What is no JSON within what is looked at, and what is none at its end although it is short.
  std::string prose;
  for (int i = 0; i < 4000; ++i)
    prose += "To be, or not to be: that is the question.\n";
  for (const std::string &text :
       {prose, "[ACT I]\n" + prose, "{ what }\n" + prose, "\"" + prose, "12 " + prose,
        "[\"" + prose, "{\"text\": " + prose, "[1, 2, " + prose, std::string("{\"cut\": [1, 2"),
        std::string("[\"cut"), "{" + line.substr(0, 60000) + "} and more " + prose})
    EXPECT_EQ(open("prose.txt", text).format, "text") << text.substr(0, 20);
}

TEST_F(Readers, AByteOrderMarkHidesNoTable) {
  EXPECT_TRUE(says(refused("a.txt", "\xEF\xBB\xBF{\"a\": 1}\n"), {"is JSON"}));
  EXPECT_TRUE(says(refused("a.txt", "\xEF\xBB\xBF"
                                    "1,2\n3,4\n"),
                   {"is a text file of numbers"}));
}

TEST_F(Readers, AByteOrderMarkIsNoCharacter) {
  Array array = open("a.txt", "\xEF\xBB\xBF"
                              "ab");
  EXPECT_EQ(array.count(), 2);
  EXPECT_EQ(array.vocabulary->text(), "ab");
  // A run that read it as one goes on with the same numbers.
  Vocabulary old({'a', 'b', 0xFEFF});
  EXPECT_EQ(openSource(folder.write("a.txt", "\xEF\xBB\xBF"
                                             "ab"),
                       &old)
                .count(),
            3);
  EXPECT_TRUE(says(refused("b.txt", "\xEF\xBB\xBF"), {"a byte-order mark and no text"}));
}

} // namespace
} // namespace weir
