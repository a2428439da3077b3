//===- NpyFileTest.cpp - Arrays that NumPy reads --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/NpyFile.h"
#include "test/runtime/TestFiles.h"

namespace weir {
namespace {

const std::byte *bytes(const std::vector<float> &values) {
  return reinterpret_cast<const std::byte *>(values.data());
}

std::string headerOf(const std::string &content) {
  size_t length = static_cast<unsigned char>(content[8]) + 256 * content[9];
  EXPECT_EQ(content.substr(0, 8), std::string("\x93NUMPY\1\0", 8));
  EXPECT_EQ((10 + length) % 64, 0u);
  EXPECT_EQ(content[9 + length], '\n');
  return content.substr(10, content.find_last_not_of(' ', 8 + length) - 9);
}

TEST(NpyFile, RowsOneAfterTheOther) {
  TestFolder folder;
  std::string path = folder.write("out.npy", "what was there");
  std::vector<float> first = {1, 2}, second = {3, 4};
  {
    NpyFile file(path, Element::f32, {2, 2});
    file.write(bytes(first), 8);
    EXPECT_EQ(readAll(path), "what was there");
    file.write(bytes(second), 8);
    file.finish();
  }
  std::string content = readAll(path);
  EXPECT_EQ(headerOf(content), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }");
  EXPECT_EQ(content.substr(content.size() - 16), raw(1.f) + raw(2.f) + raw(3.f) + raw(4.f));
}

TEST(NpyFile, OneSizeIsATupleToo) {
  TestFolder folder;
  NpyFile file(folder / "out.npy", Element::i32, {3});
  file.write(bytes({1, 2, 3}), 12);
  file.finish();
  EXPECT_EQ(headerOf(readAll(folder / "out.npy")),
            "{'descr': '<i4', 'fortran_order': False, 'shape': (3, ), }");
}

TEST(NpyFile, WhatNumPyHasNotIsF32) {
  TestFolder folder;
  NpyFile file(folder / "out.npy", Element::bf16, {2});
  const uint16_t values[] = {0x3f80, 0xc040}; // 1, -3
  file.write(reinterpret_cast<const std::byte *>(values), sizeof values);
  file.finish();
  EXPECT_EQ(file.element(), Element::f32);
  std::string content = readAll(folder / "out.npy");
  EXPECT_EQ(headerOf(content), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, ), }");
  EXPECT_EQ(content.substr(content.size() - 8), raw(1.f) + raw(-3.f));
}

TEST(NpyFile, UnfinishedItIsNotThere) {
  TestFolder folder;
  {
    NpyFile file(folder / "out.npy", Element::f32, {2, 2});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
  std::string nowhere = folder / "absent/out.npy";
  EXPECT_TRUE(
      says(messageOf(Exit::storage, [&] { NpyFile(nowhere, Element::f32, {1}); }), {nowhere}));
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { NpyFile("/dev/full", Element::f32, {1}); }),
                   {"/dev/full: cannot write"}));
}

TEST(NpyFile, ALinkToItselfIsNoPlace) {
  TestFolder folder;
  std::string loop = folder / "loop";
  std::filesystem::create_symlink("loop", loop);
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { NpyFile(loop, Element::f32, {1}); }), {loop}));
  EXPECT_TRUE(std::filesystem::is_symlink(loop));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
}

} // namespace
} // namespace weir
