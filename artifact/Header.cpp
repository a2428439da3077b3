//===- Header.cpp - What stands before an artifact's payload --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Header.h"
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(std::endian::native == std::endian::little, "artifacts are little endian");

namespace weir::artifact {

uint64_t payloadHash(std::span<const std::byte> payload) {
  return XXH3_64bits(payload.data(), payload.size());
}

std::vector<std::byte> wrap(std::span<const std::byte> payload) {
  Header header{};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.version = formatVersion;
  header.payloadBytes = payload.size();
  header.hash = payloadHash(payload);
  std::vector<std::byte> file(sizeof(Header) + payload.size());
  std::memcpy(file.data(), &header, sizeof(Header));
  std::memcpy(file.data() + sizeof(Header), payload.data(), payload.size());
  return file;
}

} // namespace weir::artifact
