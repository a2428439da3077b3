//===- MappedFileTest.cpp - Files that change while they are read ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/MappedFile.h"
#include "test/runtime/TestFiles.h"
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weir {
namespace {

int sumOf(const MappedFile &file) {
  int sum = 0;
  for (std::byte byte : file.bytes())
    sum += std::to_integer<int>(byte);
  return sum;
}

TEST(MappedFile, WhatTheMachineLacksIsNotTheFilesFault) {
  TestFolder folder;
  std::string path = folder.write("a", "1"), message;
  rlimit before, none;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = {0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  message = messageOf(Exit::device, [&] { MappedFile::open(path, Exit::data); });
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(says(message, {path, "cannot open: Too many open files"}));
  EXPECT_EQ(sumOf(*MappedFile::open(path, Exit::data)), '1');
}

TEST(MappedFile, CutShort) {
  TestFolder folder;
  std::string path = folder.write("a", std::string(20000, 1)), other = folder.write("b", "12");
  auto whole = MappedFile::open(other, Exit::data);
  for (size_t left : {9000, 4096, 100, 0}) {
    folder.write("a", std::string(20000, 1));
    auto file = MappedFile::open(path, Exit::storage);
    EXPECT_EQ(sumOf(*file), 20000);
    file->requireIntact();
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(left)), 0);
    EXPECT_EQ(sumOf(*file), static_cast<int>(left)) << "zeros behind the new end";
    EXPECT_TRUE(says(messageOf(Exit::storage, [&] { file->requireIntact(); }),
                     {path, "it had 20000 bytes, now " + std::to_string(left)}));
    whole->requireIntact();
  }
}

TEST(MappedFile, WrittenAnew) {
  TestFolder folder;
  std::string path = folder.write("a", std::string(20000, 1));
  auto file = MappedFile::open(path, Exit::data);
  usleep(20000); // the clock of a file system ticks a few hundred times a second
  folder.write("a", std::string(20000, 2));
  EXPECT_TRUE(says(messageOf(Exit::data, [&] { file->requireIntact(); }),
                   {path, "was written to while it was in use"}));
}

TEST(MappedFile, ReplacedByName) {
  TestFolder folder;
  std::string path = folder.write("a", std::string(20000, 1));
  auto file = MappedFile::open(path, Exit::data);
  std::filesystem::rename(folder.write("b", "other"), path);
  EXPECT_EQ(sumOf(*file), 20000);
  file->requireIntact();
}

TEST(MappedFileDeathTest, OthersFaultsStayFaults) {
  TestFolder folder;
  signal(SIGBUS, SIG_DFL); // a sanitizer's own is what would be called else
  auto file = MappedFile::open(folder.write("a", "1"), Exit::data);
  auto fault = [&] {
    int other = ::open(folder.write("b", "1").c_str(), O_RDWR);
    auto *at = static_cast<volatile char *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0));
    if (ftruncate(other, 0) == 0)
      at[0] = 1;
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGBUS), "");
}

} // namespace
} // namespace weir
