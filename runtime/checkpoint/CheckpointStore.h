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
// Where ranks are several processes, all of them see the directory, and each writes and verifies
// its own bytes (Ranks.h). What is no file of tensors the first does. All make the same calls in
// the same order, find the same, and what fails on one fails on all: see collectives::allOrNone.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_CHECKPOINTSTORE_H
#define WEIR_RUNTIME_CHECKPOINT_CHECKPOINTSTORE_H

#include "runtime/checkpoint/DirectoryLock.h"
#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/Ranks.h"
#include "runtime/checkpoint/Saving.h"
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
  CheckpointStore(std::string directory, int keep, Disk &disk, const Ranks &ranks = {});

  /// The steps of the checkpoints there, whole or not, newest first, as this process sees them.
  /// Empty where the directory does not exist.
  std::vector<int64_t> steps() const;

  /// Keeps other runs out of the directory, where it exists, as long as the store lives. The first
  /// process does. Throws Failure(Exit::usage) where another run is in it.
  void lock();

  /// Creates the directory if need be, locks it and makes sure that a checkpoint of `bytes` could
  /// be written now. Throws Failure: Exit::storage, and Exit::usage where a process does not see
  /// the directory that the first one sees.
  void prepare(size_t bytes);

  /// Saves; `manifest.files` is filled in. Returns the checkpoint's path. Throws
  /// Failure(Exit::storage); what was saved before is unharmed then. Throws Unreadable where a
  /// checkpoint of this step is there and cannot be read.
  std::string save(const Manifest &manifest, const std::vector<StoredTensor> &model,
                   const std::vector<StoredTensor> &state);

  /// The beginning of a save, of which Saving::write() is the middle and finish() the end. Null
  /// where a whole checkpoint of the step is there already. The tensors' bytes are those that they
  /// have in the middle. What is not finished was not saved.
  std::unique_ptr<Saving> begin(const Manifest &manifest, const std::vector<StoredTensor> &model,
                                const std::vector<StoredTensor> &state);
  void finish(Saving &saving);

  /// The newest whole checkpoint of the step `last` or an earlier one, or nothing where there is
  /// none at all. `say` is told of each that is passed over, and why. Throws Failure(Exit::storage)
  /// where there are checkpoints but none is whole, and, rather than pass over it, Unreadable for
  /// one that cannot be read and Exit::usage for one that is another on another rank.
  std::optional<Checkpoint> loadNewest(const std::function<void(const std::string &)> &say,
                                       int64_t last = std::numeric_limits<int64_t>::max());

  std::string pathOf(int64_t step) const { return pathOf(directory, step); }
  static std::string pathOf(const std::string &directory, int64_t step);

  /// One checkpoint, wherever it is. Throws Failure(Exit::storage) where it is not whole,
  /// Exit::usage where ranks see different ones, and Unreadable where that cannot be told.
  static Checkpoint open(const std::string &path, const Ranks &ranks = {});

private:
  Checkpoint load(int64_t step) const;
  std::vector<int64_t> stepsOfFirst(bool allSeeThem) const;
  void makeDirectories();
  std::string makeProbe();
  void findProbe(const std::string &probe);
  bool isWhole(int64_t step);
  void clearTemporary();
  void prune();

  std::string directory;
  int keep;
  Disk &disk;
  const Ranks ranks;
  std::optional<DirectoryLock> locked;
  std::map<int64_t, bool> whole; // what is already known of each step
};

} // namespace weir

#endif
