//===- Files.cpp - Whole files in and out ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Files.h"
#include "artifact/Header.h"
#include "artifact/Reader.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/system/NewFile.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace weir {
namespace {

struct Close {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

} // namespace

std::vector<std::byte> readArtifact(const std::string &path) {
  auto fail = [&](int reason) {
    return Failure(isScarce(reason) ? Exit::device : Exit::model,
                   concat(path, ": cannot read the artifact: ", std::strerror(reason)));
  };
  if (std::error_code none; std::filesystem::is_directory(path, none))
    throw Failure(Exit::model, concat(path, ": cannot read the artifact: it is a directory"));
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw fail(errno);
  std::vector<std::byte> bytes;
  auto readUpTo = [&](uint64_t most) {
    std::byte block[1 << 16];
    while (bytes.size() < most) {
      size_t got =
          std::fread(block, 1, std::min<uint64_t>(sizeof block, most - bytes.size()), file.get());
      if (got == 0)
        break;
      bytes.insert(bytes.end(), block, block + got);
    }
    if (std::ferror(file.get()))
      throw fail(errno);
  };
  // What is there may have no end (/dev/zero). Of what is no artifact the head is enough to say so,
  // and of an artifact one byte more than it should have.
  artifact::Header header{};
  readUpTo(sizeof header);
  if (bytes.size() < sizeof header)
    return bytes;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, artifact::magic, sizeof header.magic) == 0 &&
      header.version == artifact::formatVersion)
    readUpTo(sizeof header + std::min(header.payloadBytes, artifact::maxPayload) + 1);
  return bytes;
}

std::vector<std::byte> readUndamagedArtifact(const std::string &path) {
  std::vector<std::byte> bytes = readArtifact(path);
  try {
    artifact::verifiedPayload(bytes);
  } catch (const Failure &failure) {
    throw Failure(failure.exit, concat(path, ": ", failure.what()));
  }
  return bytes;
}

void writeFile(const std::string &path, std::span<const std::byte> bytes) {
  if (path == "-") {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
        std::fflush(stdout) != 0)
      throw Failure(Exit::storage, concat(path, ": cannot write: ", std::strerror(errno)));
    return;
  }
  NewFile file(path);
  file.write(bytes.data(), bytes.size());
  file.finish();
}

} // namespace weir
