//===- OverwriteCheck.cpp - Refuses results that overwrite their inputs ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/OverwriteCheck.h"
#include "runtime/checkpoint/Leftovers.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Readers.h"
#include "support/Error.h"
#include "support/Text.h"
#include <filesystem>

namespace weir {
namespace {

bool isSame(const std::filesystem::path &one, const std::filesystem::path &other) {
  std::error_code none;
  return std::filesystem::equivalent(one, other, none);
}

/// Where a file will be, whether or not there is one yet.
std::filesystem::path placeOf(const std::string &path) {
  constexpr int mostLinks = 40; // as many as the system follows
  std::error_code none;
  std::filesystem::path place = std::filesystem::absolute(path, none);
  if (!place.has_filename()) // ends with a slash
    place = place.parent_path();
  for (int link = 0; link < mostLinks && std::filesystem::is_symlink(place, none); ++link)
    place = place.parent_path() / std::filesystem::read_symlink(place, none);
  return std::filesystem::weakly_canonical(place, none);
}

/// Devices and pipes take more than one result.
bool isOnePlace(const std::string &one, const std::string &other) {
  std::error_code none;
  auto status = std::filesystem::status(one, none);
  if (std::filesystem::exists(status) && std::filesystem::is_other(status))
    return false;
  return isSame(one, other) || placeOf(one) == placeOf(other);
}

/// Whether `file` is one of the three of a checkpoint that `directory` is or holds.
bool isOfCheckpoint(const std::string &file, const std::string &directory) {
  std::error_code none;
  std::filesystem::path real = std::filesystem::canonical(file, none);
  std::filesystem::path folder = real.parent_path();
  std::string name = real.filename().string();
  return (name == modelFile || name == stateFile || name == manifestFile) &&
         (isSame(folder, directory) || isSame(folder.parent_path(), directory));
}

} // namespace

NamedPath namedByOption(const std::string &option, const std::string &path, bool folder) {
  return {concat(option, " ", path), path, folder};
}

std::vector<NamedPath> namedByData(const std::string &option,
                                   const std::vector<std::string> &sources) {
  std::vector<NamedPath> named;
  for (const std::string &text : sources)
    named.push_back({concat(option, " ", text), pathOf(parseSource(option, text).location)});
  return named;
}

void checkOverwrites(const std::vector<NamedPath> &written, const std::vector<NamedPath> &read) {
  for (size_t i = 0; i < written.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!(written[i].folder && written[j].folder) && isOnePlace(written[i].path, written[j].path))
        throw Failure(Exit::usage, concat(written[i].words, ": would overwrite a file that ",
                                          written[j].words, " writes; give another file"));
  for (const NamedPath &result : written) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(result.path, none))
      continue;
    for (const NamedPath &source : read)
      if (isSame(result.path, source.path) || isOfCheckpoint(result.path, source.path))
        throw Failure(Exit::usage, concat(result.words, ": would overwrite a file that ",
                                          source.words, " reads; give another file"));
  }
}

} // namespace weir
