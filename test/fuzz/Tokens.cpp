//===- Tokens.cpp - Any bytes as token files and texts ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Recognize.h"
#include "test/fuzz/Arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weir::foreignFile(std::as_bytes(std::span(data, size)));
  weir::fuzz::readArray(weir::readTokens, data, size, "fuzz.bin");
  auto readText = [](weir::Array &array, std::span<const std::byte> bytes) {
    weir::readText(array, bytes, nullptr);
  };
  weir::fuzz::readArray(readText, data, size, "fuzz.txt");
  return 0;
}
