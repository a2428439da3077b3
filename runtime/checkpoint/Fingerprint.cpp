//===- Fingerprint.cpp - Whether a file has the same content --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Fingerprint.h"
#include "runtime/checkpoint/Disk.h"
#include <algorithm>
#include <vector>

namespace weir {

std::string fingerprint(std::span<const std::byte> bytes, size_t whole) {
  if (bytes.size() <= std::max(whole, blockBytes))
    return hexText(hashOf(bytes.data(), bytes.size()));
  std::vector<uint64_t> blocks;
  size_t last = bytes.size() - blockBytes;
  for (size_t i = 0; i < sampledBlocks; ++i) {
    // In two parts, so that the product stays in 64 bits.
    constexpr size_t steps = sampledBlocks - 1;
    size_t at = last / steps * i + last % steps * i / steps;
    blocks.push_back(hashOf(bytes.data() + at, blockBytes));
  }
  return hexText(hashOf(blocks.data(), blocks.size() * sizeof(uint64_t)));
}

} // namespace weir
