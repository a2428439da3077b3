//===- Source.h - Source text and places in it ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A SourceFile is one .weir file, or one prelude file built into the compiler. The SourceManager
// owns them all and outlives every syntax tree and diagnostic, so a Range is a pointer and two
// offsets and is copied freely.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_SOURCE_H
#define WEIR_FRONTEND_SOURCE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// A place as people count: both from 1, columns in characters (UTF-8 code points).
struct LineColumn {
  unsigned line = 1;
  unsigned column = 1;
};

class SourceFile {
public:
  SourceFile(std::string name, std::string text);
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  const std::string &name() const { return fileName; }
  std::string_view text() const { return contents; }
  /// Byte offsets past the end are taken as the end.
  LineColumn locate(uint32_t offset) const;
  unsigned lineCount() const { return lineStarts.size(); }
  /// The text of a line (from 1) without its end; empty where there is none.
  std::string_view line(unsigned number) const;
  uint32_t lineStart(unsigned number) const;

private:
  static constexpr uint32_t stride = 256;
  uint32_t charactersBefore(uint32_t offset) const;

  std::string fileName;
  std::string contents;
  std::vector<uint32_t> lineStarts;
  std::vector<uint32_t> characterCounts; ///< of what begins before each `stride`th byte
};

/// Bytes [begin, end) of a file. A default Range is nowhere: a command-line option, for instance.
struct Range {
  const SourceFile *file = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file != nullptr; }
  std::string_view text() const {
    return file ? file->text().substr(begin, end - begin) : std::string_view();
  }
  bool operator==(const Range &) const = default;
};

/// From the beginning of one range to the end of a later one in the same file.
inline Range join(Range first, Range last) {
  return {first.file, first.begin, last.end > first.end ? last.end : first.end};
}

class SourceManager {
public:
  /// Offsets are 32 bits and a model is written by people; larger files are refused by load().
  static constexpr size_t maxFileSize = size_t(64) << 20;

  const SourceFile &add(std::string name, std::string text);
  /// Reads a file from disk; null with the reason in `error`.
  const SourceFile *load(const std::string &path, std::string &error);

private:
  std::vector<std::unique_ptr<SourceFile>> files;
};

} // namespace weir

#endif
