//===- FileSumTest.cpp - A hash that several processes add up -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/FileSum.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

using namespace weir;

namespace {

/// Of more than two blocks of 4 KiB, and no whole number of words.
std::vector<std::byte> content(size_t size = 9001) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(size);
  for (std::byte &byte : bytes)
    byte = std::byte(random());
  return bytes;
}

uint64_t sumOf(std::span<const std::byte> bytes, uint64_t from = 0) {
  FileSum sum;
  sum.add(from, bytes);
  return sum.value();
}

} // namespace

TEST(FileSum, IsWhatTheFormatSays) {
  // The last was computed apart from this code, with numbers of any size.
  std::byte bytes[] = {std::byte(7), std::byte(1)};
  EXPECT_EQ(sumOf(bytes), sumOf({bytes, 1}) + sumOf({bytes + 1, 1}, 1));
  EXPECT_EQ(sumOf({}), 0u);
  EXPECT_EQ(sumOf(content()), 1310301807214058089u);
}

TEST(FileSum, AnySplitAddsUp) {
  std::vector<std::byte> bytes = content();
  uint64_t whole = sumOf(bytes);
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    size_t most = trial % 3 == 0 ? 3 : trial % 3 == 1 ? 100 : 6000;
    FileSum all, ranks[3];
    for (size_t from = 0; from < bytes.size();) {
      size_t size = std::min<size_t>(1 + random() % most, bytes.size() - from);
      ranks[random() % 3].add(from, std::span(bytes).subspan(from, size));
      from += size;
    }
    for (const FileSum &rank : ranks)
      all.add(rank.value());
    ASSERT_EQ(all.value(), whole);
  }
}

TEST(FileSum, EveryBitCounts) {
  std::vector<std::byte> bytes = content(5000);
  uint64_t whole = sumOf(bytes);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] ^= std::byte(1 << bit);
      ASSERT_NE(sumOf(bytes), whole) << "byte " << at << " bit " << bit;
      bytes[at] ^= std::byte(1 << bit);
    }
}

TEST(FileSum, PlacesCount) {
  constexpr size_t word = 4, block = 4096;
  std::vector<std::byte> bytes = content();
  uint64_t whole = sumOf(bytes);
  auto swapped = [&](size_t one, size_t other, size_t size) {
    std::vector<std::byte> now = bytes;
    std::swap_ranges(now.begin() + one, now.begin() + one + size, now.begin() + other);
    return sumOf(now);
  };
  for (size_t at = word; at + word <= bytes.size(); at += word)
    ASSERT_NE(swapped(0, at, word), whole) << at;
  EXPECT_NE(swapped(0, block, block), whole);
  // Signs of two floats, as a fault that flips the same bit of two words.
  for (size_t at = word; at + word <= bytes.size(); at += word) {
    std::vector<std::byte> now = bytes;
    for (size_t byte : {size_t(3), at + 3})
      now[byte] ^= std::byte(0x80);
    ASSERT_NE(sumOf(now), whole) << at;
  }
}
