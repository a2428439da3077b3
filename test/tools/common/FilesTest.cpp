//===- FilesTest.cpp ------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Files.h"
#include "artifact/Header.h"
#include "support/Error.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace weir;

namespace {

std::vector<std::byte> bytes(size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

std::vector<std::byte> readAll(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return {begin, begin + text.size()};
}

TEST(Files, WritesOverAnOlderFileAndLeavesNothingBeside) {
  std::filesystem::path folder = testing::TempDir() + "weir-files";
  std::filesystem::create_directories(folder);
  std::string path = folder / "a.weirx";
  writeFile(path, bytes(100000, 1));
  writeFile(path, bytes(70000, 2));
  EXPECT_EQ(readAll(path), bytes(70000, 2));
  auto entries = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
  std::filesystem::remove_all(folder);
}

TEST(Files, WhatALinkLeadsToIsWrittenAndTheLinkStays) {
  std::filesystem::path folder = testing::TempDir() + "weir-linked";
  std::filesystem::create_directories(folder / "far");
  std::string link = folder / "a.weirx", target = folder / "far/b.weirx";
  writeFile(target, bytes(10, 1));
  std::filesystem::create_symlink("far/b.weirx", link);
  writeFile(link, bytes(20, 2));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(readAll(target), bytes(20, 2));
  std::filesystem::remove_all(folder);
}

TEST(Files, WhatHasTheUnfinishedFilesNameIsLeftAlone) {
  std::filesystem::path folder = testing::TempDir() + "weir-taken";
  std::filesystem::create_directories(folder);
  std::string path = folder / "a.weirx", other = folder / "thesis.txt";
  writeFile(other, bytes(10, 1));
  std::filesystem::create_symlink(other, path + "." + std::to_string(getpid()) + ".0.tmp");
  writeFile(path, bytes(20, 2));
  EXPECT_EQ(readAll(path), bytes(20, 2));
  EXPECT_EQ(readAll(other), bytes(10, 1));
  std::filesystem::remove_all(folder);
}

TEST(Files, AFullDiskIsAFailureOfStorage) {
  try {
    writeFile("/dev/full", bytes(10, 0));
    FAIL() << "wrote";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::storage);
    EXPECT_STREQ(failure.what(), "/dev/full: cannot write: No space left on device");
  }
}

TEST(Files, WhatHasNoEndIsReadAsFarAsAnArtifactGoes) {
  EXPECT_EQ(readArtifact("/dev/zero"), bytes(32, 0));
  std::filesystem::path folder = testing::TempDir() + "weir-endless";
  std::filesystem::create_directories(folder);
  std::string path = folder / "a.weirx";
  std::vector<std::byte> artifact = artifact::wrap(bytes(100, 3));
  writeFile(path, artifact);
  EXPECT_EQ(readArtifact(path), artifact);
  std::vector<std::byte> longer = artifact;
  longer.resize(1 << 20);
  writeFile(path, longer);
  EXPECT_EQ(readArtifact(path).size(), artifact.size() + 1);
  writeFile(path, bytes(5, 3));
  EXPECT_EQ(readArtifact(path), bytes(5, 3));
  std::filesystem::remove_all(folder);
}

TEST(Files, AnArtifactIsVerifiedByItsName) {
  const std::string path = testing::TempDir() + "weir-verified.weirx";
  auto wrong = [&](const std::vector<std::byte> &file) -> std::string {
    writeFile(path, file);
    try {
      readUndamagedArtifact(path);
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exit, Exit::model);
      return failure.what();
    }
    return "";
  };
  EXPECT_EQ(wrong(bytes(100, 3)), path + ": this is not a Weir artifact: it does not begin with "
                                         "WEIRX (`weir compile` makes one)");
  std::vector<std::byte> damaged = artifact::wrap(bytes(100, 3));
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(wrong(damaged), path + ": the artifact is damaged: its hash does not match its bytes; "
                                   "copy or compile it again");
  std::filesystem::remove(path);
}

TEST(Files, AFolderIsNoArtifact) {
  try {
    readArtifact(testing::TempDir());
    FAIL() << "read";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
  }
}

} // namespace
