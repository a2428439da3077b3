//===- Sources.cpp - The model beside what was made of it -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/page/Sources.h"
#include "runtime/base/Utf8.h"
#include <filesystem>
#include <fstream>
#include <iterator>

namespace weir {
namespace {

constexpr uint64_t mostBytes = 1 << 20;

PageSource readSource(const std::string &name, const std::string &artifact) {
  PageSource source = {printable(name), "", ""};
  std::filesystem::path path = name;
  std::error_code none;
  if (path.extension() != ".weir") {
    source.note = "not shown: only files named *.weir are read";
    return source;
  }
  if (!std::filesystem::is_regular_file(path, none)) {
    source.note = "not shown: there is no such file where the page was made";
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

std::vector<PageSource> readSources(const artifact::Program &program, const std::string &artifact) {
  std::vector<PageSource> sources;
  for (const flatbuffers::String *name : *program.files())
    sources.push_back(readSource(name->str(), artifact));
  return sources;
}

} // namespace weir
