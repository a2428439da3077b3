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
  /// Loads the program, finds a checkpoint to go on from, and opens all data. Nothing has been
  /// written yet.
  Training(std::vector<std::byte> artifact, const RunOptions &options);

  /// Everything from the first step to the last report.
  Exit run(const Signals &signals);

  /// What --replay asks for (Replay.cpp).
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
  Group *const group; // null where this process is alone
  const Clock::time_point began = Clock::now();
  Program program;
  const std::shared_ptr<void> attached;
  const artifact::Entry &stepEntry;
  const int64_t stepRows;
  Outputs outputs;
  Disk disk;
  const std::unique_ptr<CheckpointStore> store; // null without --checkpoint
  std::optional<Saver> saver;                   // as well
  std::optional<InitialState> initialState;     // until it is in the program
  const TrainingData data;
  Sampler sampler;
  std::optional<Evaluator> evaluator; // of what is held out
  NonFiniteGuard guard;
  SkippedSteps skips;
  UncountedSteps uncounted;
  Reports reports;
  Utilization utilization;
  const int64_t seed;
  int64_t done = 0, total = 0; // steps
  struct Started {
    Ticket ticket;
    Clock::time_point begun, ready; // its inputs were asked for, and written
    double waited;                  // seconds for its batch
    double exchanged;               // seconds that exchanges of the group had taken before
  };
  std::deque<Started> started; // steps behind those that are done, whose results are read later
  Clock::time_point told;      // when all was said of the last step
  int64_t evaluated = -1;      // the step that `held` is of
  int agreed = 0;            // the signal that ends the run, where several processes have to agree
  bool endsTogether = false; // that all processes leave it, for want of data
  double worked = 0;         // seconds of the last step that this process did not wait for others
  Stragglers stragglers;
  Values last, held; // of the last step, of the last evaluation
};

} // namespace weir

#endif
