//===- Sources.cpp - The model beside what was made of it -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/page/Sources.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace weir {
namespace {

constexpr uint64_t mostBytes = 1 << 20;

std::filesystem::path fileName(const std::string &path) {
  return std::filesystem::path(path).filename();
}

PageSource readSource(const std::string &name, const std::string &artifact,
                      const std::vector<std::string> &models) {
  PageSource source = {printable(name), "", ""};
  std::error_code none;
  if (fileName(name).extension() != ".weir") {
    source.note = "not shown: only files named *.weir are read";
    return source;
  }
  auto given = std::ranges::find(models, fileName(name), fileName);
  bool isGiven = given != models.end();
  std::filesystem::path path = isGiven
                                   ? std::filesystem::path(*given)
                                   : std::filesystem::path(artifact).parent_path() / fileName(name);
  auto status =
      isGiven ? std::filesystem::status(path, none) : std::filesystem::symlink_status(path, none);
  if (!std::filesystem::is_regular_file(status)) {
    source.note = isGiven ? "not shown: --model names no file"
                          : "not shown: no such file is beside the artifact; --model FILE names it";
    return source;
  }
  if (std::filesystem::file_size(path, none) > mostBytes) {
    source.note = "not shown: larger than a megabyte";
    return source;
  }
  std::ifstream file(path, std::ios::binary);
  source.text = printable(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!file) {
    source.text.clear();
    source.note = "not shown: it cannot be read";
    return source;
  }
  auto written = std::filesystem::last_write_time(path, none);
  if (auto compiled = std::filesystem::last_write_time(artifact, none); !none && written > compiled)
    source.note = "changed after the artifact was written: lines may have moved";
  return source;
}

} // namespace

std::vector<PageSource> readSources(const artifact::Program &program, const std::string &artifact,
                                    const std::vector<std::string> &models) {
  std::vector<PageSource> sources;
  std::vector<std::string> names;
  for (const flatbuffers::String *name : *program.files()) {
    sources.push_back(readSource(name->str(), artifact, models));
    names.push_back(shownName(name->str()));
  }
  for (const std::string &model : models)
    if (std::ranges::none_of(*program.files(), [&](const flatbuffers::String *name) {
          return fileName(name->str()) == fileName(model);
        }))
      throw Failure(
          Exit::usage,
          concat("--model ", model,
                 ": expected one of the files that the artifact was compiled from: ", join(names)));
  return sources;
}

} // namespace weir
