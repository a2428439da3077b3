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

#include "runtime/checkpoint/FileSum.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>

namespace weir {

class Disk {
public:
  virtual ~Disk() = default;
  virtual int create(const std::string &path); ///< open for writing; the file must not exist
  virtual int open(const std::string &path);   ///< for writing; a plain file that is there
  virtual ssize_t write(int file, const void *data, size_t size);
  virtual ssize_t writeAt(int file, const void *data, size_t size, uint64_t at); ///< pwrite
  virtual int truncate(int file, uint64_t size);                                 ///< ftruncate
  virtual int sync(int file);                                                    ///< fsync
  virtual int close(int file);
  virtual int makeDirectory(const std::string &path);
  virtual int syncDirectory(const std::string &path); ///< open, fsync, close
  virtual int rename(const std::string &from, const std::string &to);
  virtual int removeFile(const std::string &path);
  virtual int removeDirectory(const std::string &path); ///< an empty one
};

/// Writes one file through a Disk, from its beginning to its end. Failures are
/// Failure(Exit::storage) naming the path.
class FileWriter {
public:
  FileWriter(Disk &disk, std::string path);
  ~FileWriter();
  void write(const void *data, size_t size);
  /// Makes it durable and closes it.
  void finish();

private:
  Disk &disk;
  std::string path;
  int file = -1;
};

/// Makes an empty file of so many bytes, which others write parts of.
void createSized(Disk &disk, const std::string &path, uint64_t size);

/// Writes parts of a file that createSized() made, in any order, and adds them up. Failures are as
/// FileWriter's.
class PartWriter {
public:
  /// Opens the file, which has `size` bytes if it is the one that was made.
  PartWriter(Disk &disk, std::string path, uint64_t size);
  ~PartWriter();
  void write(uint64_t at, std::span<const std::byte> bytes);
  /// Makes its parts durable and closes it.
  void finish();
  /// Of what it wrote.
  uint64_t sum() const { return added.value(); }

private:
  Disk &disk;
  std::string path;
  int file = -1;
  FileSum added;
};

/// XXH3_64 of `size` bytes.
uint64_t hashOf(const void *data, size_t size);

/// 16 lower-case hexadecimal digits.
std::string hexText(uint64_t value);

/// "PATH: cannot DO: REASON" from errno, with advice for a full disk; Exit::storage.
[[noreturn]] void failStorage(const std::string &path, const char *what);

} // namespace weir

#endif
