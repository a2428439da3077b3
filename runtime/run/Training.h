//===- Training.h - One training run --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of runTraining(). A Training owns everything of one run. Members are in the order in
// which they are created.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_TRAINING_H
#define WEIR_RUNTIME_RUN_TRAINING_H

#include "runtime/core/Group.h"
#include "runtime/nan_trace/Flow.h"
#include "runtime/run/Evaluator.h"
#include "runtime/run/NonFiniteGuard.h"
#include "runtime/run/Reports.h"
#include "runtime/run/RunOptions.h"
#include "runtime/run/Signals.h"
#include "runtime/run/SkippedSteps.h"
#include "runtime/run/TrainingData.h"
#include "runtime/run/UncountedSteps.h"
#include "runtime/run/Utilization.h"
#include "runtime/run/launch/Stragglers.h"
#include "runtime/run/resume/InitialState.h"
#include "runtime/run/resume/Saver.h"
#include <deque>

namespace weir {

class Training {
public:
  /// Loads the program, finds a checkpoint to resume from, and opens all data. Writes nothing yet.
  Training(std::vector<std::byte> artifact, const RunOptions &options);

  /// Runs everything from the first step to the last report.
  Exit run(const Signals &signals);

  /// Runs a --replay (Replay.cpp).
  Exit replay(const Signals &signals);

private:
  using Clock = std::chrono::steady_clock;

  void agreeOnBeginning();
  int received(const Signals &signals);
  void initialize();
  void requireSameReplicas(const std::string &when, const std::string &advice) const;
  void announce() const;
  int train(const Signals &signals);
  void startStep(Clock::time_point begun, double waited, double exchanged);
  void tellSlowRanks(const std::vector<std::vector<int64_t>> &nanoseconds);
  int agreeOnStep(const Signals &signals, const std::optional<Failure> &noData);
  void finishStep();
  void finishSteps();
  void checkFinite(const StepRecord &record);
  Values readOutputs();
  void rewind(const Values &bad);
  void traceStep(const Values &bad);
  void tellOrigin(const Flow &flow, const Values &bad);
  int evaluate(const Signals &signals);
  Manifest manifest() const;
  void save(bool stepsFollow);
  std::string newestCheckpoint() const;
  std::string savedAsItStands();
  std::string savedBefore();
  void awaitAll();
  Exit stop(int signal);
  Exit finish(bool reported);
  double secondsSince(Clock::time_point start) const;

  const RunOptions &options;
  Group *const group; // null if this process is alone
  const Clock::time_point began = Clock::now();
  Program program;
  const std::shared_ptr<void> attached;
  const artifact::Entry &stepEntry;
  const int64_t stepRows;
  Outputs outputs;
  Disk disk;
  const std::unique_ptr<CheckpointStore> store; // null without --checkpoint
  std::optional<Saver> saver;                   // null without --checkpoint, too
  std::optional<InitialState> initialState;     // until it is copied into the program
  const TrainingData data;
  Sampler sampler;
  std::optional<Evaluator> evaluator; // of the held-out data
  NonFiniteGuard guard;
  SkippedSteps skips;
  UncountedSteps uncounted;
  Reports reports;
  Utilization utilization;
  const int64_t seed;
  int64_t done = 0, total = 0; // steps
  struct Started {
    Ticket ticket;
    Clock::time_point begun, ready; // when its inputs were requested, and written
    double waited;                  // seconds of waiting for its batch
    double exchanged;               // seconds of the group's communication before it
  };
  std::deque<Started> started; // steps after those that are done; their results are read later
  Clock::time_point told;      // when the last step was reported
  int64_t evaluated = -1;      // the step of `held`
  int agreed = 0;              // the signal that ends the run, if several processes have to agree
  bool endsTogether = false;   // all processes end the run, because data is missing
  double worked = 0; // seconds of the last step in which this process did not wait for others
  Stragglers stragglers;
  Values last, held; // of the last step, of the last evaluation
};

} // namespace weir

#endif
