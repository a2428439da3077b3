//===- FaultyDisk.h - A disk that goes wrong ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_CHECKPOINT_FAULTYDISK_H
#define WEIR_TEST_RUNTIME_CHECKPOINT_FAULTYDISK_H

#include "runtime/checkpoint/Disk.h"
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

namespace weir {

class FaultyDisk : public Disk {
public:
  enum Kind { none, fails, full, half, dies };
  /// The `at`-th call, counted from 0, goes wrong.
  FaultyDisk(Kind kind, int at) : kind(kind), at(at) {}
  int calls = 0;

  int create(const std::string &path) override {
    if (wrong())
      return -1;
    int file = Disk::create(path);
    opened[file] = {path, false};
    return file;
  }
  int open(const std::string &path) override {
    if (wrong())
      return -1;
    int file = Disk::open(path);
    opened[file] = {path, false};
    return file;
  }
  ssize_t writeAt(int file, const void *data, size_t size, uint64_t at) override {
    if (kind == half && calls == this->at && size > 1) {
      ++calls;
      return Disk::writeAt(file, data, size / 2, at);
    }
    return wrong() ? -1 : Disk::writeAt(file, data, size, at);
  }
  int truncate(int file, uint64_t size) override {
    return wrong() ? -1 : Disk::truncate(file, size);
  }
  ssize_t write(int file, const void *data, size_t size) override {
    if (kind == half && calls == at && size > 1) {
      ++calls;
      return Disk::write(file, data, size / 2);
    }
    return wrong() ? -1 : Disk::write(file, data, size);
  }
  int sync(int file) override {
    if (wrong())
      return -1;
    opened[file].synced = true;
    return Disk::sync(file);
  }
  int close(int file) override {
    bool bad = wrong();
    // What is made durable is so whoever has written it.
    if (opened[file].synced)
      unsynced.erase(opened[file].path);
    else
      unsynced.insert(opened[file].path);
    Disk::close(file);
    return bad ? -1 : 0;
  }
  int makeDirectory(const std::string &path) override {
    return wrong() ? -1 : Disk::makeDirectory(path);
  }
  int syncDirectory(const std::string &path) override {
    return wrong() ? -1 : Disk::syncDirectory(path);
  }
  int rename(const std::string &from, const std::string &to) override {
    return wrong() ? -1 : Disk::rename(from, to);
  }
  int removeFile(const std::string &path) override { return wrong() ? -1 : Disk::removeFile(path); }
  int removeDirectory(const std::string &path) override {
    return wrong() ? -1 : Disk::removeDirectory(path);
  }

  /// What a power failure leaves of files that were never made durable.
  void loseUnsynced() {
    for (const std::string &path : unsynced)
      if (std::filesystem::exists(path))
        std::filesystem::resize_file(path, 0);
  }

private:
  bool wrong() {
    int call = calls++;
    bool now = kind != none && kind != half && (call == at || (kind == dies && call > at));
    errno = kind == full ? ENOSPC : EIO;
    return now;
  }
  struct File {
    std::string path;
    bool synced;
  };
  const Kind kind;
  const int at;
  std::map<int, File> opened;
  std::set<std::string> unsynced;
};

} // namespace weir

#endif
