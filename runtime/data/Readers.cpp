//===- Readers.cpp - The formats data comes in ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Readers.h"
#include "runtime/base/Text.h"
#include "runtime/data/MappedFile.h"
#include <cstring>
#include <filesystem>

namespace weir {

const char *const supportedFormats =
    "supported are idx (MNIST's), .npy, UTF-8 text, .bin token files (nanoGPT's raw uint16, "
    "llm.c's) "
    "and bytes:PATH, which reads any file as numbers from 0 to 255";

namespace {

constexpr std::string_view raw = "bytes:";

bool startsWith(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

/// idx begins with two zeros, a type and the number of dimensions; no text does.
bool looksLikeIdx(std::span<const std::byte> bytes, const std::string &name) {
  if (name.ends_with("-ubyte") || name.find(".idx") != std::string::npos)
    return true;
  auto at = [&](size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  return bytes.size() >= 4 && at(0) == 0 && at(1) == 0 && at(2) >= 8 && at(2) <= 14 && at(3) >= 1 &&
         at(3) <= 8;
}

} // namespace

std::string pathOf(const std::string &location) {
  return location.starts_with(raw) ? location.substr(raw.size()) : location;
}

Array openSource(const std::string &location, const Vocabulary *vocabulary) {
  bool asBytes = location.starts_with(raw);
  std::string path = pathOf(location);
  auto file = MappedFile::open(path, Exit::data);
  std::span<const std::byte> bytes = file->bytes();

  Array array;
  array.path = path;
  array.owner = array.file = file;
  if (bytes.empty())
    throw Failure(Exit::data, path + ": the file is empty");
  std::string name = std::filesystem::path(path).filename().string();
  if (asBytes) {
    array.format = "bytes";
    array.element = Element::u8;
    array.shape = {static_cast<int64_t>(bytes.size())};
    array.data = bytes.data();
  } else if (startsWith(bytes, "\x93NUMPY") || name.ends_with(".npy")) {
    readNpy(array, bytes);
  } else if (name.ends_with(".bin")) {
    readTokens(array, bytes);
  } else if (looksLikeIdx(bytes, name)) {
    readIdx(array, bytes);
  } else if (startsWith(bytes, "\x1f\x8b")) {
    throw Failure(Exit::data, path + ": is compressed with gzip; run gunzip on it first");
  } else {
    readText(array, bytes, vocabulary);
  }
  file->requireIntact();
  return array;
}

} // namespace weir
