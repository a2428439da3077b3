//===- Files.cpp - Whole files in and out ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Files.h"
#include "runtime/artifact/Header.h"
#include "runtime/core/Error.h"
#include "runtime/core/Text.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace weir {
namespace {

struct Close {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

/// Where devices and pipes (/dev/null, a shell's <(...)) are named, renaming over them would be
/// wrong.
bool replaceable(const std::string &path) {
  std::error_code ignored;
  auto status = std::filesystem::status(path, ignored);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

bool writeAll(std::FILE *file, std::span<const std::byte> bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
}

} // namespace

std::vector<std::byte> readArtifact(const std::string &path) {
  auto fail = [&](const std::string &why) -> Failure {
    return Failure(Exit::model, concat(path, ": cannot read the artifact: ", why));
  };
  if (std::error_code none; std::filesystem::is_directory(path, none))
    throw fail("it is a folder");
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw fail(std::strerror(errno));
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
      throw fail(std::strerror(errno));
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

void writeFile(const std::string &path, std::span<const std::byte> bytes) {
  auto fail = [&] {
    return Failure(Exit::storage, concat(path, ": cannot write: ", std::strerror(errno)));
  };
  if (path == "-") {
    if (!writeAll(stdout, bytes))
      throw fail();
    return;
  }
  bool rename = replaceable(path);
  // A link stays one: what it leads to is replaced.
  std::error_code error;
  std::string target = path;
  if (std::filesystem::is_symlink(path, error)) {
    target = std::filesystem::weakly_canonical(path, error).string();
    if (error)
      throw Failure(Exit::storage, concat(path, ": cannot write: ", error.message()));
  }
  std::string place = rename ? concat(target, ".", getpid(), ".tmp") : path;
  // "x": nothing that is there already is written to, whatever it leads to.
  File file(std::fopen(place.c_str(), rename ? "wbx" : "wb"));
  for (int number = 1; !file && rename && errno == EEXIST; ++number) {
    place = concat(target, ".", getpid(), ".", number, ".tmp");
    file.reset(std::fopen(place.c_str(), "wbx"));
  }
  if (!file)
    throw fail();
  if (!writeAll(file.get(), bytes) || (rename && std::rename(place.c_str(), target.c_str()) != 0)) {
    Failure failure = fail();
    if (rename)
      std::remove(place.c_str());
    throw failure;
  }
}

} // namespace weir
