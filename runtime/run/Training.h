//===- Training.h - One training run --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What runTraining() does, in parts: a Training owns everything of one run. Members are in the
// order they come to life.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_TRAINING_H
#define WEIR_RUNTIME_RUN_TRAINING_H

#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/checkpoint/Tensors.h"
#include "runtime/checkpoint/Weights.h"
#include "runtime/report/MetricsFile.h"
#include "runtime/report/Progress.h"
#include "runtime/report/TensorBoard.h"
#include "runtime/run/Evaluator.h"
#include "runtime/run/Finite.h"
#include "runtime/run/Gradients.h"
#include "runtime/run/RunOptions.h"
#include "runtime/run/Signals.h"

namespace weir {

class Training {
public:
  /// Loads the program, finds a checkpoint to go on from, and opens all data. Nothing has been
  /// written yet.
  Training(std::vector<std::byte> artifact, const RunOptions &options);

  /// Everything from the first step to the last report.
  Exit run(const Signals &signals);

private:
  using Clock = std::chrono::steady_clock;

  void findCheckpoint();
  void openWeights();
  void bindData();
  void checkVocabularies(const Dataset &all) const;
  void noteData(const Dataset &all);
  void decideSteps();
  void openReports();
  void initialize();
  void announce() const;
  void step(const Batch &batch);
  int train(const Signals &signals);
  void checkFinite(const StepRecord &record);
  int evaluate(const Signals &signals);
  void save();
  std::string newestCheckpoint() const;
  std::string savedAsItStands();
  template <typename Sink, typename Write> void report(std::optional<Sink> &sink, Write write);
  bool writeReports();
  Exit finish(bool reported);
  Exit stop(int signal);
  Manifest manifest() const;
  double secondsSince(Clock::time_point start) const;
  static void print(const std::string &results);

  const RunOptions &options;
  const Clock::time_point began = Clock::now();
  Program program;
  const std::shared_ptr<void> attached;
  const artifact::Entry &stepEntry;
  const int64_t stepRows;
  Disk disk;
  std::optional<CheckpointStore> store;
  std::optional<Checkpoint> resumed;
  std::optional<Weights> weights; // to begin with
  std::optional<Dataset> dataset, heldOut;
  std::map<std::string, Manifest::Data> dataFacts; // by input
  std::string unit;                                // "tokens" or "samples"
  double unitsPerStep = 0;
  int64_t seed = 0, done = 0, total = 0;
  std::optional<Sampler> sampler;
  Outputs outputs;
  std::optional<Evaluator> evaluator;
  std::optional<MetricsFile> metrics;
  std::optional<TensorBoard> tensorboard;
  std::optional<Gradients> gradients;
  std::optional<Progress> progress;
  int64_t saved = -1;     // the step of the newest checkpoint that is known to be whole
  int64_t evaluated = -1; // the step that `held` is of
  int64_t skipped = 0, skippedInARow = 0;
  int64_t learnt = 0; // steps that changed something
  Finite finite;
  std::string advice;    // what may help against the last step that was not finite
  std::string notFinite; // "'w' is nan in FILE" of what steps write, as the run began; "": all is
  Values last, held;
};

} // namespace weir

#endif
