//===- Saving.h - The files of a checkpoint while they are written --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder that no reader looks at, with the two files of tensors. Each process writes its own
// bytes into both of them, and none needs another's.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_SAVING_H
#define WEIR_RUNTIME_CHECKPOINT_SAVING_H

#include "runtime/checkpoint/Leftovers.h"
#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/SafeTensors.h"
#include <atomic>
#include <exception>
#include <optional>

namespace weir {

class Saving {
public:
  /// Of files in `folder`, which is yet to be made. Failures are Failure(Exit::storage).
  Saving(Disk &disk, bool isFirst, std::string folder, Manifest manifest,
         std::vector<StoredTensor> model, std::vector<StoredTensor> state);
  /// Removes what the first process has made, unless it was finished.
  ~Saving();

  /// Of the first process: makes the folder and files of their size.
  void create();
  /// Opens the files, once they are made.
  void open();
  /// Writes this process's bytes and makes them durable. Another thread may do so while this one
  /// reads nothing but isWritten().
  void write() noexcept;
  bool isWritten() const { return written; }
  /// Nobody wants it any more: write() ends as soon as it can.
  void stop() { stopping = true; }
  /// Throws what went wrong in write().
  void requireWritten() const;

  int64_t step() const { return manifest.step; }
  /// The sum of what was written to a file.
  uint64_t sumOf(const std::string &file) const;

  /// Of the first process, once all have written: adds the manifest, with the files' sums, and
  /// gives the folder its name.
  void finish(const std::map<std::string, uint64_t> &sums, const std::string &target);

private:
  struct File {
    const char *name;
    bool isFirst; ///< it writes the header
    std::vector<StoredTensor> tensors;
    std::string header = safeTensorsHeader(tensors);
    uint64_t size = 0;
    std::optional<PartWriter> writer = {};
    void write(const std::atomic<bool> &stopping);
  };
  std::string inside(const char *name) const;

  Disk &disk;
  const std::string folder;
  Manifest manifest;
  File files[2];
  bool made = false;
  std::atomic<bool> written = false, stopping = false;
  std::exception_ptr failure;
};

} // namespace weir

#endif
