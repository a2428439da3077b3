//===- Source.cpp ---------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace weir {

/// Not the continuation of a UTF-8 character.
static bool beginsCharacter(char c) { return (c & 0xC0) != 0x80; }

SourceFile::SourceFile(std::string name, std::string text)
    : fileName(std::move(name)), contents(std::move(text)) {
  lineStarts.push_back(0);
  uint32_t characters = 0;
  for (size_t i = 0; i < contents.size(); ++i) {
    if (i % stride == 0)
      characterCounts.push_back(characters);
    characters += beginsCharacter(contents[i]);
    if (contents[i] == '\n')
      lineStarts.push_back(i + 1);
  }
  characterCounts.push_back(characters); // where the last stride is whole, its end
}

/// Lines may be long and are asked about often: a generated model may be one line.
uint32_t SourceFile::charactersBefore(uint32_t offset) const {
  uint32_t count = characterCounts[offset / stride];
  for (uint32_t i = offset - offset % stride; i < offset; ++i)
    count += beginsCharacter(contents[i]);
  return count;
}

LineColumn SourceFile::locate(uint32_t offset) const {
  offset = std::min<size_t>(offset, contents.size());
  auto after = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  unsigned line = after - lineStarts.begin();
  uint32_t start = lineStarts[line - 1];
  if (offset - start > stride)
    return {line, charactersBefore(offset) - charactersBefore(start) + 1};
  auto before = std::string_view(contents).substr(start, offset - start);
  return {line, unsigned(std::count_if(before.begin(), before.end(), beginsCharacter)) + 1};
}

std::string_view SourceFile::line(unsigned number) const {
  if (number == 0 || number > lineStarts.size())
    return {};
  uint32_t begin = lineStarts[number - 1];
  size_t end = number < lineStarts.size() ? lineStarts[number] - 1 : contents.size();
  if (end > begin && contents[end - 1] == '\r')
    --end;
  return text().substr(begin, end - begin);
}

uint32_t SourceFile::lineStart(unsigned number) const {
  return number == 0 || number > lineStarts.size() ? contents.size() : lineStarts[number - 1];
}

const SourceFile &SourceManager::add(std::string name, std::string text) {
  files.push_back(std::make_unique<SourceFile>(std::move(name), std::move(text)));
  return *files.back();
}

const SourceFile *SourceManager::load(const std::string &path, std::string &error) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  char chunk[1 << 16];
  while (text.size() <= maxFileSize && (stream.read(chunk, sizeof chunk), stream.gcount() > 0))
    text.append(chunk, stream.gcount());
  if (!stream.is_open() || stream.bad()) {
    error = "cannot read `" + path + "`";
    if (errno)
      error += ": " + std::string(std::strerror(errno));
    return nullptr;
  }
  if (text.size() > maxFileSize) {
    error = "`" + path + "` is larger than 64 MiB, which no model file is";
    return nullptr;
  }
  return &add(path, std::move(text));
}

} // namespace weir
