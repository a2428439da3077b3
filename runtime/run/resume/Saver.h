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
  /// All of these outlive it. Takes the memory for a copy, where the options ask for one. Throws
  /// Failure(Exit::device) where the machine has not that much.
  Saver(CheckpointStore &store, const Program &program, const RunOptions &options);
  /// What is not saved by then is not saved.
  ~Saver();

  /// The step of the newest checkpoint that is known to be whole; -1: none.
  int64_t saved() const { return newest; }
  /// That a checkpoint of the step was found.
  void found(int64_t step);

  /// Saves the program as it is, which is of manifest.step; with `stepsFollow`, behind them where
  /// that is asked for. Throws as CheckpointStore::save().
  void save(const Manifest &manifest, bool stepsFollow);

  /// Between two steps: finishes what was saved behind them, where all have written it.
  void poll();

  /// Waits for what is saved behind the steps, and finishes it.
  void wait();

private:
  CheckpointStore &store;
  const Program &program;
  Group *const group;
  RestartState *const restartState; // may be null
  std::optional<Snapshot> snapshot;
  std::unique_ptr<Saving> pending;
  std::thread writer; // of it
  int64_t newest = -1;
};

} // namespace weir

#endif
