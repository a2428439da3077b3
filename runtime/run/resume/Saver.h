//===- Saver.h - Saves checkpoints, also in the background ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A save takes place between two steps. With --async-checkpoint, the saver copies the tensors, and
// a thread writes the copy while later steps run. Only the thread that runs the steps communicates
// with other processes. So the ranks learn between two later steps that all of them have written,
// and only then is the checkpoint reported as saved.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_SAVER_H
#define WEIR_RUNTIME_RUN_RESUME_SAVER_H

#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/checkpoint/Snapshot.h"
#include "runtime/run/RunOptions.h"
#include <thread>

namespace weir {

class Saver {
public:
  /// All of these must outlive it. Allocates the memory for a copy if the options request one.
  /// Throws Failure(Exit::device) if the machine lacks it.
  Saver(CheckpointStore &store, const Program &program, const RunOptions &options);
  /// A save in progress that has not completed by then is lost.
  ~Saver();

  /// The step of the newest checkpoint that is known to be complete; -1: none.
  int64_t saved() const { return newest; }
  /// Records that a checkpoint of the step was found.
  void found(int64_t step);

  /// Saves the program's current state, after manifest.step; with `stepsFollow`, in the background
  /// if requested. Throws as CheckpointStore::save().
  void save(const Manifest &manifest, bool stepsFollow);

  /// Call between two steps: completes a background save if all ranks have written it.
  void poll();

  /// Waits for the background save, and completes it.
  void wait();

private:
  CheckpointStore &store;
  const Program &program;
  Group *const group;
  RestartState *const restartState; // may be null
  std::optional<Snapshot> snapshot;
  std::unique_ptr<Saving> pending;
  std::thread writer; // of the copy
  int64_t newest = -1;
};

} // namespace weir

#endif
