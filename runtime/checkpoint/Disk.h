//===- Disk.h - The system calls of a save --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every change that a save makes on disk goes through a Disk, so that a test can make each of them
// fail or be the last. The methods are the system calls of their names: -1 and errno on failure.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_DISK_H
#define WEIR_RUNTIME_CHECKPOINT_DISK_H

#include <cstddef>
#include <string>
#include <sys/types.h>

namespace weir {

class Disk {
public:
  virtual ~Disk() = default;
  virtual int create(const std::string &path); ///< open for writing; the file must not exist
  virtual ssize_t write(int file, const void *data, size_t size);
  virtual int sync(int file); ///< fsync
  virtual int close(int file);
  virtual int makeDirectory(const std::string &path);
  virtual int syncDirectory(const std::string &path); ///< open, fsync, close
  virtual int rename(const std::string &from, const std::string &to);
  virtual int removeFile(const std::string &path);
  virtual int removeDirectory(const std::string &path); ///< an empty one
};

/// Writes one file through a Disk and hashes what is written. Failures are Failure(Exit::storage)
/// naming the path.
class FileWriter {
public:
  FileWriter(Disk &disk, std::string path);
  ~FileWriter();
  void write(const void *data, size_t size);
  /// Makes it durable and closes it.
  void finish();
  size_t size() const { return written; }
  /// XXH3_64 of the bytes so far.
  uint64_t hash() const;

private:
  Disk &disk;
  std::string path;
  int file = -1;
  size_t written = 0;
  void *state; // XXH3_state_t
};

/// XXH3_64 of `size` bytes.
uint64_t hashOf(const void *data, size_t size);

/// 16 lower-case hexadecimal digits.
std::string hexText(uint64_t value);

/// "PATH: cannot DO: REASON" from errno, with advice for a full disk; Exit::storage.
[[noreturn]] void failStorage(const std::string &path, const char *what);

} // namespace weir

#endif
