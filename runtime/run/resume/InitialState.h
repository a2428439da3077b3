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
  /// Opens what `options` name, and tells of it on standard error. `store` is where checkpoints
  /// are, null without --checkpoint; it is locked. Throws Failure: Exit::model for weights of
  /// another model, Exit::usage where the options contradict what is there, and for ranks whose
  /// weights differ.
  InitialState(const Program &program, const RunOptions &options, CheckpointStore *store);

  /// What the run goes on from; null at its first beginning.
  const Checkpoint *checkpoint() const { return resumed ? &*resumed : nullptr; }
  /// The seed of the run.
  int64_t seed() const;
  /// The numbers of characters that the weights know.
  Vocabularies vocabularies() const;

  /// Gives every variable of `program` its value. Returns where they came from, as " in PATH"; ""
  /// for the initialisers.
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
