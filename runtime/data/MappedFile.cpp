//===- MappedFile.cpp - A file's bytes, read only -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/MappedFile.h"
#include "runtime/core/Text.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string &path, Exit exit) {
  auto fail = [&](const char *what) {
    return Failure(exit, concat(path, ": ", what, ": ", std::strerror(errno)));
  };
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    throw fail("cannot open");
  struct stat info;
  if (fstat(file, &info) != 0) {
    Failure failure = fail("cannot read");
    ::close(file);
    throw failure;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(file);
    throw Failure(exit,
                  concat(path, ": is ", S_ISDIR(info.st_mode) ? "a directory" : "not a plain file",
                         "; expected a file"));
  }
  size_t size = static_cast<size_t>(info.st_size);
  void *start = nullptr;
  if (size > 0) {
    start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (start == MAP_FAILED) {
      Failure failure = fail("cannot map");
      ::close(file);
      throw failure;
    }
  }
  ::close(file);
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte *>(start), size));
}

MappedFile::~MappedFile() {
  if (size > 0)
    munmap(const_cast<std::byte *>(start), size);
}

} // namespace weir
