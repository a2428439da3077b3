//===- KernelCacheTest.cpp - Compiled kernels that outlive the process ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/KernelCache.h"
#include "test/runtime/TestFiles.h"
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace weir;

namespace {

std::vector<char> code(const std::string &text) { return {text.begin(), text.end()}; }

/// With the user's cache in a folder of the test.
struct KernelCaches : testing::Test {
  KernelCaches() { setenv("WEIR_KERNEL_CACHE", place.c_str(), 1); }
  ~KernelCaches() override { unsetenv("WEIR_KERNEL_CACHE"); }

  std::vector<std::filesystem::path> files() const {
    return {std::filesystem::directory_iterator(place), {}};
  }

  TestFolder folder;
  std::string place = folder / "kernels";
};

} // namespace

TEST_F(KernelCaches, WhatIsKeptIsFound) {
  KernelCache cache("o");
  EXPECT_FALSE(cache.find("source"));
  cache.keep("source", code("machine code"));
  EXPECT_EQ(cache.find("source"), code("machine code"));
  EXPECT_EQ(KernelCache("o").find("source"), code("machine code"));
  EXPECT_FALSE(cache.find("source "));
  EXPECT_FALSE(KernelCache("cubin").find("source"));
}

TEST_F(KernelCaches, OneThatIsDamagedIsNotFound) {
  KernelCache cache("o");
  cache.keep("source", code("machine code"));
  std::filesystem::path path = files().at(0);
  std::string whole = readAll(path);
  folder.write("kernels/" + path.filename().string(), whole);
  EXPECT_TRUE(cache.find("source"));
  for (size_t size : {size_t(0), size_t(7), size_t(16), whole.size() - 1}) {
    folder.write("kernels/" + path.filename().string(), whole.substr(0, size));
    EXPECT_FALSE(cache.find("source")) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    folder.write("kernels/" + path.filename().string(), damaged);
    EXPECT_FALSE(cache.find("source")) << at;
  }
  cache.keep("source", code("machine code"));
  EXPECT_EQ(cache.find("source"), code("machine code"));
}

TEST_F(KernelCaches, OneUnderAnotherNameIsNotFound) {
  KernelCache cache("o");
  cache.keep("source", code("machine code"));
  std::filesystem::path other = place + "/" + hashText("other") + ".o";
  std::filesystem::rename(files().at(0), other);
  EXPECT_FALSE(cache.find("other"));
}

TEST_F(KernelCaches, OnesThatWereUsedLongAgoMakeRoom) {
  KernelCache cache("o", 64 * 1000);
  std::vector<char> bytes(1000);
  cache.keep("used", bytes);
  for (int number = 0; number < 4000; ++number) {
    std::string source = std::to_string(number);
    cache.keep(source, bytes);
    std::filesystem::path path = place + "/" + hashText(source) + ".o";
    ASSERT_TRUE(std::filesystem::exists(path)) << number;
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() -
                                               std::chrono::hours(5000 - number));
    EXPECT_TRUE(cache.find("used"));
  }
  EXPECT_LT(files().size(), 2000u);
  EXPECT_TRUE(cache.find("3999"));
  EXPECT_FALSE(cache.find("0"));
}

TEST_F(KernelCaches, AFolderThatIsNoneIsNotUsed) {
  folder.write("kernels", "a file");
  KernelCache cache("o");
  cache.keep("source", code("machine code"));
  EXPECT_FALSE(cache.find("source"));
  EXPECT_EQ(readAll(place), "a file");
}

TEST(BuildId, IsThatOfTheObjectWithTheAddress) {
  std::string own = buildIdOf(reinterpret_cast<const void *>(&code));
  std::string library = buildIdOf(reinterpret_cast<const void *>(&std::abort));
  EXPECT_GE(own.size(), 8u);
  EXPECT_GE(library.size(), 8u);
  EXPECT_NE(own, library);
  EXPECT_EQ(buildIdOf(nullptr), "");
}
