//===- ReadTokens.cpp - Token files of nanoGPT and llm.c ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nanoGPT: raw little-endian u16. llm.c: 256 little-endian i32 (magic, version, count), then u16
// (20240520, version 1) or u32 (20240801, version 7) tokens. https://github.com/karpathy/llm.c
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include "runtime/data/Readers.h"
#include <cstring>

namespace weir {

void readTokens(Array &array, std::span<const std::byte> bytes) {
  auto fail = [&](const auto &...parts) {
    return Failure(Exit::data, concat(array.path, ": ", parts...));
  };
  constexpr size_t headerSize = 1024;
  int32_t header[3] = {};
  if (bytes.size() >= sizeof header)
    std::memcpy(header, bytes.data(), sizeof header);

  int32_t magic = header[0];
  if (magic == 20240522 || magic == 20240326 || magic == 20240527 || magic == 20240328)
    throw fail("is llm.c's ",
               magic == 20240522   ? "evaluation set"
               : magic == 20240326 ? "model"
               : magic == 20240527 ? "optimizer state"
                                   : "tokenizer",
               ", not a token file; ", supportedFormats);
  if (magic == 20240520 || magic == 20240801) {
    int32_t version = magic == 20240520 ? 1 : 7;
    array.element = version == 1 ? Element::u16 : Element::u32;
    array.format = "llm.c";
    if (header[1] != version)
      throw fail("is llm.c's token file of version ", header[1], "; expected ", version);
    size_t tokenSize = sizeOf(array.element);
    if (bytes.size() < headerSize || header[2] < 1 ||
        bytes.size() - headerSize != static_cast<size_t>(header[2]) * tokenSize)
      throw fail("the header says ", header[2], " tokens of ", tokenSize, " bytes after ",
                 headerSize, " bytes of header, but the file has ", bytes.size(),
                 " bytes; it is cut short or not whole, write it anew");
    array.shape = {header[2]};
    array.data = bytes.data() + headerSize;
    return;
  }
  if (bytes.size() % 2 != 0)
    throw fail("has ", bytes.size(),
               " bytes; as nanoGPT's tokens (two bytes each, no header) it cannot "
               "be odd; ",
               supportedFormats);
  array.format = "nanogpt";
  array.element = Element::u16;
  array.shape = {static_cast<int64_t>(bytes.size() / 2)};
  array.data = bytes.data();
}

} // namespace weir
