//===- TensorBoardTest.cpp - TensorBoard's event files --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/TensorBoard.h"
#include "test/runtime/TestFiles.h"
#include <cstring>

namespace weir {
namespace {

TEST(Crc32c, KnownAnswers) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
}

template <typename T> T at(const std::string &bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST(TensorBoard, RecordsAreFramed) {
  TestFolder folder;
  std::string directory = folder / "events";
  {
    TensorBoard board(directory);
    board.scalars(300, {{"loss", 1.5}});
  }
  auto files = std::filesystem::directory_iterator(directory);
  std::string name = files->path().filename().string(), content = readAll(files->path());
  EXPECT_NE(name.find("tfevents"), std::string::npos);
  std::vector<std::string> events;
  for (size_t offset = 0; offset < content.size();) {
    auto length = at<uint64_t>(content, offset);
    EXPECT_EQ(at<uint32_t>(content, offset + 8), maskedCrc32c(content.substr(offset, 8)));
    events.push_back(content.substr(offset + 12, length));
    EXPECT_EQ(at<uint32_t>(content, offset + 12 + length), maskedCrc32c(events.back()));
    offset += 16 + length;
  }
  ASSERT_EQ(events.size(), 2u);
  // Field 1 (wall time) takes 9 bytes in each.
  EXPECT_EQ(events[0].substr(9), "\x1a\x0d"
                                 "brain.Event:2");
  EXPECT_EQ(events[1].substr(9), std::string("\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04"
                                             "loss\x15",
                                             14) +
                                     raw(1.5f));
}

TEST(TensorBoard, WhatCannotBeWritten) {
  TestFolder folder;
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { TensorBoard(folder.write("plain", "") + "/x"); }),
                   {"plain/x"}));
}

} // namespace
} // namespace weir
