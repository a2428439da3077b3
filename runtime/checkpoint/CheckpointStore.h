//===- CheckpointStore.h - A directory of checkpoints ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DIR/step-00000100/{model.safetensors, state.safetensors, manifest.json}. A save writes
// DIR/step-00000100.tmp, makes every file and the directory durable, renames it, makes the rename
// durable, and only then removes what is no longer kept: at every moment the newest whole
// checkpoint is either the old one or the new one. What ends in .tmp is never read. Leftovers.h
// says what is removed, and what never. DIR/.lock keeps a second run out.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_CHECKPOINTSTORE_H
#define WEIR_RUNTIME_CHECKPOINT_CHECKPOINTSTORE_H

#include "runtime/checkpoint/DirectoryLock.h"
#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/SafeTensors.h"
#include <functional>
#include <limits>
#include <optional>

namespace weir {

/// A checkpoint whose hashes have been verified.
struct Checkpoint {
  std::string path;
  Manifest manifest;
  SafeTensors model, state;
};

class CheckpointStore {
public:
  /// `keep` newest whole checkpoints stay after a save. `disk` has to outlive the store.
  CheckpointStore(std::string directory, int keep, Disk &disk);

  /// The steps of the checkpoints there, whole or not, newest first. Empty where the directory does
  /// not exist.
  std::vector<int64_t> steps() const;

  /// Keeps other runs out of the directory, where it exists, as long as the store lives. Throws
  /// Failure(Exit::usage) where another run is in it.
  void lock();

  /// Creates the directory if need be, locks it and makes sure that a checkpoint of `bytes` could
  /// be written now. Throws Failure(Exit::storage).
  void prepare(size_t bytes);

  /// Saves; `manifest.files` is filled in. Returns the checkpoint's path. Throws
  /// Failure(Exit::storage); what was saved before is unharmed then. Throws Unreadable where a
  /// checkpoint of this step is there and cannot be read.
  std::string save(Manifest manifest, const std::vector<StoredTensor> &model,
                   const std::vector<StoredTensor> &state);

  /// The newest whole checkpoint of the step `last` or an earlier one, or nothing where there is
  /// none at all. `say` is told of each that is passed over, and why. Throws Failure(Exit::storage)
  /// where there are checkpoints but none is whole, and Unreadable, rather than pass over it, for
  /// one that cannot be read.
  std::optional<Checkpoint> loadNewest(const std::function<void(const std::string &)> &say,
                                       int64_t last = std::numeric_limits<int64_t>::max());

  std::string pathOf(int64_t step) const;

  /// Whether a checkpoint of the step is there and whole, which save() leaves as it is. Throws
  /// Unreadable where that cannot be told.
  bool hasWhole(int64_t step);

  /// One checkpoint, wherever it is. Throws Failure(Exit::storage) where it is not whole,
  /// Unreadable where that cannot be told.
  static Checkpoint open(const std::string &path);

private:
  Checkpoint load(int64_t step) const;
  bool isWhole(int64_t step);
  void clearTemporary();
  void prune();

  std::string directory;
  int keep;
  Disk &disk;
  std::optional<DirectoryLock> locked;
  std::map<int64_t, bool> whole; // what is already known of each step
};

} // namespace weir

#endif
