//===- SafeTensorsTest.cpp - Safetensors files, good and hostile ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/SafeTensors.h"
#include "test/runtime/TestFiles.h"
#include <cstring>

namespace weir {
namespace {

std::string file(const std::string &header, const std::string &data = "") {
  return raw(static_cast<uint64_t>(header.size())) + header + data;
}

std::map<std::string, StoredTensor> parse(const std::string &content) {
  return parseSafeTensors(std::as_bytes(std::span(content)), "f.safetensors", Exit::model);
}

std::string refused(const std::string &content) {
  std::string message = messageOf(Exit::model, [&] { parse(content); });
  EXPECT_TRUE(says(message, {"f.safetensors"}));
  return message;
}

TEST(SafeTensors, WritesWhatItReads) {
  TestFolder folder;
  Disk disk;
  float values[] = {1, 2, 3};
  uint8_t byte = 7;
  {
    FileWriter writer(disk, folder / "a.safetensors");
    auto bytes = [](const void *data) { return static_cast<const std::byte *>(data); };
    writeSafeTensors(writer, {{"b.weight", "F32", {3, 1}, bytes(values), 12},
                              {"a \"quoted\" name", "U8", {}, bytes(&byte), 1}});
    writer.finish();
  }
  std::string content = readAll(folder / "a.safetensors");
  uint64_t length;
  std::memcpy(&length, content.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_NE(content.find("\"format\":\"pt\""), std::string::npos);
  SafeTensors read(folder / "a.safetensors", Exit::model);
  EXPECT_EQ(read.tensors().size(), 2u);
  const StoredTensor &b = read.tensors().at("b.weight");
  EXPECT_EQ(describe(b), "F32[3, 1]");
  EXPECT_EQ(std::memcmp(b.data, values, 12), 0);
  EXPECT_EQ(read.tensors().at("a \"quoted\" name").shape.size(), 0u);
}

TEST(SafeTensors, AcceptsWhatOthersWrite) {
  EXPECT_EQ(parse(file("{}")).size(), 0u);
  EXPECT_EQ(
      parse(
          file(
              R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"__metadata__":{"x":"y"}}   )",
              "abcd"))
          .size(),
      1u);
  EXPECT_EQ(parse(file(R"({"a":{"shape":[0,5],"dtype":"F32","data_offsets":[0,0]}})")).at("a").size,
            0u);
  EXPECT_EQ(
      parse(
          file(
              R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
              "xy"))
          .size(),
      2u);
}

TEST(SafeTensors, RefusesBrokenFrames) {
  EXPECT_TRUE(says(refused("abc"), {"3 bytes"}));
  EXPECT_TRUE(says(refused(raw(uint64_t{100}) + "{}"), {"100 bytes, 2 found"}));
  EXPECT_TRUE(says(refused(raw(~uint64_t{0}) + "{}"), {"at most"}));
  EXPECT_TRUE(says(refused(raw(uint64_t{0})), {"'{'"}));
  EXPECT_TRUE(says(refused(file(" {}")), {"'{'"}));
  EXPECT_TRUE(says(refused(file("{\"a\"")), {"JSON"}));
  EXPECT_TRUE(says(refused(file("{}}")), {"JSON"}));
  EXPECT_TRUE(says(refused(file("{}", "x")), {"1 bytes at its end"}));
}

TEST(SafeTensors, RefusesOddHeaders) {
  auto one = [](const std::string &fields) { return file("{\"a\":{" + fields + "}}", "abcd"); };
  for (const char *fields : {
           R"("dtype":"F32","shape":[1])",                                  // no offsets
           R"("dtype":"F32","data_offsets":[0,4])",                         // no shape
           R"("shape":[1],"data_offsets":[0,4])",                           // no dtype
           R"("dtype":"F31","shape":[1],"data_offsets":[0,4])",             // unknown dtype
           R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"extra":1)",   // unknown field
           R"("dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4])", // field twice
           R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])",
           R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])",
           R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])",
           R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])",
           R"("dtype":"F32","shape":1,"data_offsets":[0,4])",
           R"("dtype":"F32","shape":[1],"data_offsets":[0,4,4])",
           R"("dtype":"F32","shape":[1],"data_offsets":[4])",
           R"("dtype":"F32","shape":[1],"data_offsets":[0,8])", // past the end
           R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", // backwards
           R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", // size and shape differ
           R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])", // wraps to 0
           R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])",
           R"("dtype":"F32","shape":[1],"data_offsets":[0,{}])",
           R"("dtype":null,"shape":[1],"data_offsets":[0,4])",
       })
    refused(one(fields));
  std::string endless(100'000, 'x');
  EXPECT_LT(refused(file("{\"" + endless + "\":{" +
                         R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"))
                .size(),
            1000u);
  refused(file(R"({"a":1})"));
  refused(file(R"({"a":[]})"));
  refused(file(R"({"__metadata__":{"x":1}})"));
  refused(file(R"({"__metadata__":{"x":{"y":"z"}}})"));
  refused(file("{" + std::string(100000, '[')));
  std::string deep = "{";
  for (int i = 0; i < 100000; ++i)
    deep += "\"a\":{";
  refused(file(deep));
}

TEST(SafeTensors, RefusesOverlapsHolesAndTwins) {
  auto two = [](const std::string &first, const std::string &second,
                const std::string &name = "b") {
    return file(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first + R"(},")" + name +
                    R"(":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}",
                "abcde");
  };
  EXPECT_TRUE(says(refused(two("[0,2]", "[1,3]")), {"overlap"}));
  EXPECT_TRUE(says(refused(two("[0,2]", "[0,2]")), {"overlap"}));
  EXPECT_TRUE(says(refused(two("[0,2]", "[3,5]")), {"a gap before byte 3"}));
  EXPECT_TRUE(says(refused(two("[0,2]", "[2,4]")), {"at its end"}));
  EXPECT_TRUE(says(refused(two("[0,2]", "[2,4]", "a")), {"twice"}));
}

} // namespace
} // namespace weir
