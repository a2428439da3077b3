//===- Leftovers.cpp - What a save may remove -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Leftovers.h"
#include "support/Text.h"
#include <filesystem>
#include <string_view>

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary = ".tmp", broken = ".broken";

bool endsWithNumber(std::string_view &name) {
  size_t dot = name.rfind('.');
  if (dot == name.npos || dot + 1 == name.size() ||
      name.find_first_not_of("0123456789", dot + 1) != name.npos)
    return false;
  name = name.substr(0, dot);
  return true;
}

fs::file_status statusOf(const fs::path &path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored);
}

} // namespace

int64_t stepOfName(const std::string &name) {
  constexpr std::string_view prefix = "step-";
  constexpr size_t fewest = 8, most = 18;
  if (!name.starts_with(prefix))
    return -1;
  std::string_view digits = std::string_view(name).substr(prefix.size());
  if (digits.size() < fewest || digits.size() > most ||
      (digits.size() > fewest && digits[0] == '0') ||
      digits.find_first_not_of("0123456789") != digits.npos)
    return -1;
  int64_t step = 0;
  for (char c : digits)
    step = step * 10 + (c - '0');
  return step;
}

bool isLeftover(const std::string &name) {
  std::string_view rest = name;
  if (!rest.ends_with(temporary))
    return false;
  rest.remove_suffix(temporary.size());
  endsWithNumber(rest);
  if (rest.ends_with(broken))
    rest.remove_suffix(broken.size());
  return stepOfName(std::string(rest)) >= 0;
}

std::string temporaryName(const std::string &path) {
  std::string name = path + std::string(temporary);
  for (int number = 1; isTaken(name); ++number)
    name = concat(path, ".", number, temporary);
  return name;
}

bool isRealFolder(const std::string &path) { return fs::is_directory(statusOf(path)); }

bool isTaken(const std::string &path) { return fs::exists(statusOf(path)); }

void removeCheckpoint(Disk &disk, const std::string &path) {
  if (!isRealFolder(path))
    return;
  for (const char *name : {modelFile, stateFile, manifestFile})
    if (fs::path file = fs::path(path) / name; fs::is_regular_file(statusOf(file)))
      disk.removeFile(file.string());
  disk.removeDirectory(path);
}

} // namespace weir
