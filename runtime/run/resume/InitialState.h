//===- InitialState.h - The initial state of a run ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The newest checkpoint if the run resumes; otherwise the weights of --init or --init-partial;
// otherwise the model's initial values. The weights are opened and checked against the program
// before anything is written, and copied into the program when the run begins.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_INITIALSTATE_H
#define WEIR_RUNTIME_RUN_RESUME_INITIALSTATE_H

#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/checkpoint/Weights.h"
#include "runtime/run/RunOptions.h"

namespace weir {

class InitialState {
public:
  /// Opens the weights that `options` name, and reports this on standard error. `store` contains
  /// the checkpoints; it is locked, and null without --checkpoint. Throws Failure: Exit::model for
  /// weights of another model, Exit::usage if the options contradict the files, and for ranks whose
  /// weights differ.
  InitialState(const Program &program, const RunOptions &options, CheckpointStore *store);

  /// The checkpoint that the run resumes from; null for a new run.
  const Checkpoint *checkpoint() const { return resumed ? &*resumed : nullptr; }
  /// The seed of the run.
  int64_t seed() const;
  /// The character numbers of the weights' vocabulary.
  Vocabularies vocabularies() const;

  /// Gives every variable of `program` its value. Returns their source, as " in PATH"; "" for
  /// initial values.
  std::string begin(Program &program, int64_t totalSteps) const;

private:
  void findCheckpoint(const Program &program, CheckpointStore &store);
  void openWeights(const Program &program);
  void openOnAllRanks(const Program &program, const std::string &option, const std::string &path);
  void sayWhereScalesBeginAnew(const Program &program) const;

  const RunOptions &options;
  std::optional<Checkpoint> resumed;
  std::optional<Weights> weights;
};

} // namespace weir

#endif
