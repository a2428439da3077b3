//===- MappedFile.h - A file's bytes, read only ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A whole file mapped read-only, so that a data set larger than memory costs only the pages that a
// step reads.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_MAPPEDFILE_H
#define WEIR_RUNTIME_DATA_MAPPEDFILE_H

#include "runtime/core/Error.h"
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace weir {

class MappedFile {
public:
  /// Maps `path`. Throws Failure with `exit` when it is absent, unreadable or no plain file.
  static std::shared_ptr<const MappedFile> open(const std::string &path, Exit exit);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {start, size}; }

private:
  MappedFile(const std::byte *start, size_t size) : start(start), size(size) {}
  const std::byte *start;
  size_t size;
};

} // namespace weir

#endif
