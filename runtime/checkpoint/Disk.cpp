//===- Disk.cpp - The system calls of a save ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Disk.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir {

int Disk::create(const std::string &path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}
ssize_t Disk::write(int file, const void *data, size_t size) { return ::write(file, data, size); }
int Disk::sync(int file) { return ::fsync(file); }
int Disk::close(int file) { return ::close(file); }
int Disk::makeDirectory(const std::string &path) { return ::mkdir(path.c_str(), 0777); }
int Disk::syncDirectory(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return -1;
  int result = ::fsync(file), reason = errno;
  ::close(file);
  errno = reason;
  return result;
}
int Disk::rename(const std::string &from, const std::string &to) {
  return ::rename(from.c_str(), to.c_str());
}
int Disk::removeFile(const std::string &path) { return ::unlink(path.c_str()); }
int Disk::removeDirectory(const std::string &path) { return ::rmdir(path.c_str()); }

FileWriter::FileWriter(Disk &disk, std::string name)
    : disk(disk), path(std::move(name)), state(XXH3_createState()) {
  XXH3_64bits_reset(static_cast<XXH3_state_t *>(state));
  file = disk.create(path);
  if (file < 0) {
    XXH3_freeState(static_cast<XXH3_state_t *>(state));
    failStorage(path, "create");
  }
}

FileWriter::~FileWriter() {
  if (file >= 0)
    disk.close(file);
  XXH3_freeState(static_cast<XXH3_state_t *>(state));
}

void FileWriter::write(const void *data, size_t size) {
  assert(file >= 0);
  XXH3_64bits_update(static_cast<XXH3_state_t *>(state), data, size);
  written += size;
  for (auto *from = static_cast<const char *>(data); size > 0;) {
    // Linux writes at most 2 GiB - 4 KiB at once.
    ssize_t done = disk.write(file, from, std::min<size_t>(size, size_t{1} << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      if (done == 0)
        errno = ENOSPC;
      failStorage(path, "write");
    }
    from += done;
    size -= done;
  }
}

void FileWriter::finish() {
  // After a failed fsync the pages count as clean, so the file is given up, never synced again
  // (Rebello et al., "Can applications recover from fsync failures?", ATC 2020).
  if (disk.sync(file) != 0)
    failStorage(path, "sync");
  int closing = file;
  file = -1;
  if (disk.close(closing) != 0)
    failStorage(path, "close");
}

uint64_t FileWriter::hash() const { return XXH3_64bits_digest(static_cast<XXH3_state_t *>(state)); }

uint64_t hashOf(const void *data, size_t size) { return XXH3_64bits(data, size); }

std::string hexText(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

void failStorage(const std::string &path, const char *what) {
  int reason = errno;
  std::string message = concat(path, ": cannot ", what, ": ", std::strerror(reason));
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
    message +=
        "; free some space and start again, with --resume if there are checkpoints: what was saved "
        "before is whole";
  throw Failure(isScarce(reason) ? Exit::device : Exit::storage, message);
}

} // namespace weir
