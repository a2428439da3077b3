//===- DirectoryLock.h - One run in a directory at a time -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An flock on DIR/.lock. The kernel gives it up with the process, however that ends, so a lock file
// that lies there locks nothing by itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_DIRECTORYLOCK_H
#define WEIR_RUNTIME_CHECKPOINT_DIRECTORYLOCK_H

#include <string>

namespace weir {

class DirectoryLock {
public:
  /// Locks an existing directory for as long as this lives. Throws Failure: Exit::usage where
  /// another run has it, Exit::storage where the lock file cannot be opened.
  explicit DirectoryLock(const std::string &directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  int file;
};

} // namespace weir

#endif
