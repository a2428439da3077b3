//===- FileSum.cpp - A hash that several processes add up -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/FileSum.h"
#include <algorithm>
#include <array>
#include <cstring>

namespace weir {
namespace {

using Wide = unsigned __int128;

constexpr uint64_t prime = (uint64_t(1) << 61) - 1;
constexpr size_t wordBytes = sizeof(uint32_t), blockWords = 1024;

/// Number `index` of SplitMix64's sequence from `seed`, of which it takes what is below the prime.
constexpr uint64_t keyOf(uint64_t index, uint64_t seed) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return 1 + (z ^ (z >> 31)) % (prime - 1);
}

constexpr std::array<uint64_t, blockWords> inBlock = [] {
  std::array<uint64_t, blockWords> keys{};
  for (size_t i = 0; i < blockWords; ++i)
    keys[i] = keyOf(i, 0);
  return keys;
}();

constexpr uint64_t ofBlock(uint64_t block) { return keyOf(block, 0x5745495253554d53); }

/// 2^61 is 1 here: what is above 61 bits is added to what is below.
uint64_t reduced(Wide value) {
  value = (value & prime) + (value >> 61);
  value = (value & prime) + (value >> 61);
  auto small = static_cast<uint64_t>(value);
  return small >= prime ? small - prime : small;
}

/// Of bytes that lie in one block, from byte `from` of it on. At most 1,024 products of 93 bits.
Wide sumOfBlock(size_t from, std::span<const std::byte> bytes) {
  Wide all = 0;
  const uint64_t *key = inBlock.data() + from / wordBytes;
  auto addPart = [&](size_t first, size_t count) {
    uint32_t word = 0;
    std::memcpy(reinterpret_cast<std::byte *>(&word) + first, bytes.data(), count);
    all += Wide(word) * *key++;
    bytes = bytes.subspan(count);
  };
  if (size_t first = from % wordBytes)
    addPart(first, std::min(bytes.size(), wordBytes - first));
  size_t words = bytes.size() / wordBytes;
  for (size_t i = 0; i < words; ++i) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + i * wordBytes, wordBytes);
    all += Wide(word) * key[i];
  }
  key += words;
  bytes = bytes.subspan(words * wordBytes);
  if (!bytes.empty())
    addPart(0, bytes.size());
  return all;
}

} // namespace

void FileSum::add(uint64_t from, std::span<const std::byte> bytes) {
  constexpr size_t blockBytes = blockWords * wordBytes;
  while (!bytes.empty()) {
    size_t first = from % blockBytes, count = std::min(bytes.size(), blockBytes - first);
    uint64_t block = reduced(sumOfBlock(first, bytes.first(count)));
    sum = reduced(Wide(block) * ofBlock(from / blockBytes) + sum);
    from += count;
    bytes = bytes.subspan(count);
  }
}

void FileSum::add(uint64_t value) { sum = reduced(Wide(sum) + value); }

} // namespace weir
