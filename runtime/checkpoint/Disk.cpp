//===- Disk.cpp - The system calls of a save ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Disk.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir {

int Disk::create(const std::string &path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}
int Disk::open(const std::string &path) {
  return ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
}
ssize_t Disk::writeAt(int file, const void *data, size_t size, uint64_t at) {
  return ::pwrite(file, data, size, static_cast<off_t>(at));
}
int Disk::truncate(int file, uint64_t size) { return ::ftruncate(file, static_cast<off_t>(size)); }
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

namespace {

/// Calls `write` with what is left until nothing is.
template <class Write>
void writeAll(const std::string &path, std::span<const std::byte> bytes, Write write) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB - 4 KiB at once.
    ssize_t done = write(bytes.first(std::min<size_t>(bytes.size(), size_t{1} << 30)));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      if (done == 0)
        errno = ENOSPC;
      failStorage(path, "write");
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

void syncAndClose(Disk &disk, const std::string &path, int &file) {
  // After a failed fsync the pages count as clean, so the file is given up, never synced again
  // (Rebello et al., "Can applications recover from fsync failures?", ATC 2020).
  if (disk.sync(file) != 0)
    failStorage(path, "sync");
  if (disk.close(std::exchange(file, -1)) != 0)
    failStorage(path, "close");
}

} // namespace

FileWriter::FileWriter(Disk &disk, std::string name)
    : disk(disk), path(std::move(name)), file(disk.create(path)) {
  if (file < 0)
    failStorage(path, "create");
}

FileWriter::~FileWriter() {
  if (file >= 0)
    disk.close(file);
}

void FileWriter::write(const void *data, size_t size) {
  assert(file >= 0);
  writeAll(path, {static_cast<const std::byte *>(data), size},
           [&](auto some) { return disk.write(file, some.data(), some.size()); });
}

void FileWriter::finish() { syncAndClose(disk, path, file); }

void createSized(Disk &disk, const std::string &path, uint64_t size) {
  int file = disk.create(path);
  if (file < 0)
    failStorage(path, "create");
  if (disk.truncate(file, size) != 0) {
    int reason = errno;
    disk.close(file);
    errno = reason;
    failStorage(path, "set the size");
  }
  // What writes the parts makes them durable, and the size with them.
  if (disk.close(file) != 0)
    failStorage(path, "close");
}

PartWriter::PartWriter(Disk &disk, std::string name, uint64_t size)
    : disk(disk), path(std::move(name)), file(disk.open(path)) {
  if (file < 0)
    failStorage(path, "open");
  struct stat info;
  if (fstat(file, &info) == 0 && static_cast<uint64_t>(info.st_size) == size)
    return;
  disk.close(file);
  throw Failure(
      Exit::storage,
      concat(
          path, ": is not the file of ", size,
          " bytes that rank 0 created; give all ranks the same directory on a shared file system"));
}

PartWriter::~PartWriter() {
  if (file >= 0)
    disk.close(file);
}

void PartWriter::write(uint64_t at, std::span<const std::byte> bytes) {
  assert(file >= 0);
  added.add(at, bytes);
  writeAll(path, bytes, [&](auto some) {
    ssize_t done = disk.writeAt(file, some.data(), some.size(), at);
    at += done > 0 ? static_cast<uint64_t>(done) : 0;
    return done;
  });
}

void PartWriter::finish() { syncAndClose(disk, path, file); }

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
    message += "; free some space and start again, with --resume if there are checkpoints: what "
               "was saved before is intact";
  throw Failure(isScarce(reason) ? Exit::device : Exit::storage, message);
}

} // namespace weir
