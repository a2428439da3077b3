//===- DirectoryLock.cpp - One run in a directory at a time ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/DirectoryLock.h"
#include "runtime/checkpoint/Disk.h"
#include "support/Error.h"
#include "support/Text.h"
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace weir {

DirectoryLock::DirectoryLock(const std::string &directory) {
  std::string path = (std::filesystem::path(directory) / ".lock").string();
  // For writing: NFS locks no file that is open for reading alone.
  file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    failStorage(path, "open");
  // Any other failure is a file system without locks, which is no reason not to train there.
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file);
    throw Failure(Exit::usage, concat("--checkpoint ", directory,
                                      ": another run is writing to this directory; wait for it to "
                                      "end, or give another directory"));
  }
}

DirectoryLock::~DirectoryLock() { ::close(file); }

} // namespace weir
