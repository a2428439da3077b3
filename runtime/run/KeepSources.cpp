//===- KeepSources.cpp - Results that would be written over their sources -===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/KeepSources.h"
#include "runtime/checkpoint/Leftovers.h"
#include "runtime/core/Error.h"
#include "runtime/core/Text.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Readers.h"
#include <filesystem>

namespace weir {
namespace {

bool isSame(const std::filesystem::path &one, const std::filesystem::path &other) {
  std::error_code none;
  return std::filesystem::equivalent(one, other, none);
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

NamedPath namedByOption(const std::string &option, const std::string &path) {
  return {concat(option, " ", path), path};
}

std::vector<NamedPath> namedByData(const std::string &option,
                                   const std::vector<std::string> &sources) {
  std::vector<NamedPath> named;
  for (const std::string &text : sources)
    named.push_back({concat(option, " ", text), pathOf(parseSource(option, text).location)});
  return named;
}

void keepSources(const std::vector<NamedPath> &written, const std::vector<NamedPath> &read) {
  for (const NamedPath &result : written) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(result.path, none))
      continue;
    for (const NamedPath &source : read)
      if (isSame(result.path, source.path) || isOfCheckpoint(result.path, source.path))
        throw Failure(Exit::usage, concat(result.words, ": would be written over what ",
                                          source.words, " reads; give another file"));
  }
}

} // namespace weir
