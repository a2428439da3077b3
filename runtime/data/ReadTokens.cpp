//===- ReadTokens.cpp - Token files of llm.c ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 256 little-endian i32 (magic, version, count), then u16 (20240520, version 1) or u32 (20240801,
// version 7) tokens. https://github.com/karpathy/llm.c
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Readers.h"
#include "support/Error.h"
#include "support/Text.h"
#include <cstring>

namespace weir {
namespace {

struct TokenHeader {
  int32_t magic = 0, version = 0, count = 0;
};

TokenHeader tokenHeaderOf(std::span<const std::byte> bytes) {
  TokenHeader header;
  if (bytes.size() >= sizeof header)
    std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

constexpr int32_t tokensOf16 = 20240520, tokensOf32 = 20240801;

/// What else llm.c writes with a header of this kind; null for tokens and what is none.
const char *otherKind(int32_t magic) {
  switch (magic) {
  case 20240522:
    return "evaluation set";
  case 20240326:
    return "model";
  case 20240527:
    return "optimizer state";
  case 20240328:
    return "tokenizer";
  default:
    return nullptr;
  }
}

} // namespace

bool isLlmC(std::span<const std::byte> bytes) {
  int32_t magic = tokenHeaderOf(bytes).magic;
  return magic == tokensOf16 || magic == tokensOf32 || otherKind(magic);
}

void readTokens(Array &array, std::span<const std::byte> bytes) {
  auto fail = [&](const auto &...parts) {
    return Failure(Exit::data, concat(array.path, ": ", parts...));
  };
  constexpr size_t headerSize = 1024;
  TokenHeader header = tokenHeaderOf(bytes);
  if (const char *other = otherKind(header.magic))
    throw fail("is llm.c's ", other, ", not a token file; ", supportedFormats);
  if (header.magic != tokensOf16 && header.magic != tokensOf32)
    throw fail("does not have the header of llm.c's token files; ", supportedFormats);
  int32_t version = header.magic == tokensOf16 ? 1 : 7;
  array.element = version == 1 ? Element::u16 : Element::u32;
  array.format = "llm.c";
  if (header.version != version)
    throw fail("is llm.c's token file of version ", header.version, "; expected ", version);
  size_t tokenSize = sizeOf(array.element);
  if (bytes.size() < headerSize || header.count < 1 ||
      bytes.size() - headerSize != static_cast<size_t>(header.count) * tokenSize)
    throw fail("the header says ", header.count, " tokens of ", tokenSize, " bytes after ",
               headerSize, " bytes of header, but the file has ", bytes.size(),
               " bytes; it is truncated or damaged, write it again");
  array.shape = {header.count};
  array.data = bytes.data() + headerSize;
}

} // namespace weir
