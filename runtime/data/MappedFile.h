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
// Whoever cuts the file short while it is mapped (a plain `cp` over it does, before it writes)
// takes pages away: to read them is a SIGBUS, and so is a page that the disk cannot give. Its
// handler puts zeros there and marks the mapping, and reading goes on. Readers of a file that may
// change under them ask requireIntact() before they believe what they read; it also notices a file
// that was written anew.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_MAPPEDFILE_H
#define WEIR_RUNTIME_DATA_MAPPEDFILE_H

#include "support/Error.h"
#include <cstddef>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <sys/stat.h>

namespace weir {

class MappedFile {
public:
  /// Maps `path`. Throws Failure with `exit` when it is absent or no plain file, Unreadable when it
  /// cannot be read: with `exit`, or with Exit::device when there is no memory or open file left.
  static std::shared_ptr<const MappedFile> open(const std::string &path, Exit exit);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {start, size}; }

  /// Throws Unreadable, with the status that open() was given, unless all that was read so far is
  /// what the file held when it was opened. One system call.
  void requireIntact() const;

private:
  struct Place; // where the signal's handler finds the mapping

  MappedFile(std::string path, Exit exit, int file, const std::byte *start,
             const struct stat &info);

  const std::string path;
  const Exit exit;
  const int file; // stays open: what is mapped, whatever has that name by now
  const std::byte *const start;
  const size_t size;
  const timespec written; // when the file was last, before it was opened
  Place *place = nullptr;
};

} // namespace weir

#endif
