//===- NewFile.h - A file that takes its place when it is whole -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written beside its place and renamed at the end, so that what was there stays until then. A link
// stays one: what it leads to is replaced, unless another user has put it into a folder such as
// /tmp. A pipe or a device is written to as it is.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SYSTEM_NEWFILE_H
#define WEIR_SUPPORT_SYSTEM_NEWFILE_H

#include <cstddef>
#include <string>
#include <sys/stat.h>

namespace weir {

class NewFile {
public:
  /// Begins a file for `path`, with that mode less the umask. Throws Failure(Exit::storage) where
  /// there can be none, Exit::device where no more files may be open.
  explicit NewFile(std::string path, unsigned mode = 0666);
  /// Removes it unless it was finished.
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  /// Appends bytes. Throws Failure(Exit::storage).
  void write(const std::byte *data, size_t size);

  /// Puts the file in its place. Throws Failure(Exit::storage).
  void finish();

  const std::string &path() const { return target; }

private:
  [[noreturn]] void fail(int reason);
  void requireNoStrangers(const struct stat &there) const;
  void followLinks();
  void discard();
  std::string target;  // as it was asked for
  std::string renamed; // the file that is replaced; "": none
  std::string place;   // what is written
  int file = -1;
  bool made = false; // a file to be removed unless it is finished
};

} // namespace weir

#endif
