//===- Reports.h - Reports of a running training --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Standard error, --metrics, --tensorboard, --trace, --profile and --gradients. If the file of
// metrics or events cannot be written any more, the run reports that once and continues without it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_REPORTS_H
#define WEIR_RUNTIME_RUN_REPORTS_H

#include "runtime/report/MetricsFile.h"
#include "runtime/report/Progress.h"
#include "runtime/report/TensorBoard.h"
#include "runtime/run/Gradients.h"
#include "runtime/run/Profiler.h"
#include "runtime/run/RunOptions.h"
#include "runtime/run/launch/Stragglers.h"
#include <optional>

namespace weir {

class Reports {
public:
  /// Nothing is written yet. Throws Failure(Exit::usage) where gradients are asked for and `step`
  /// gives none. All three have to outlive it.
  Reports(Program &program, const artifact::Entry &step, const RunOptions &options);

  /// Opens everything, so that a place that cannot be written is known before the run; before any
  /// call below. `unit` is "tokens" or "samples", `done` the steps of `total` that the run goes on
  /// after. Throws Failure(Exit::storage).
  void open(const std::string &unit, int64_t done, int64_t total);

  /// Right after the entry was run, before another is.
  void keepGradients();
  void step(const StepRecord &record);
  /// The seconds that telling of the step, and what else comes after it, took.
  void told(double seconds);
  /// The figures of held-out data, after `step` steps.
  void evaluation(int64_t step, const Values &figures, double seconds);
  /// That a rank has become slow, or is not any more, after `step` steps.
  void slowRank(int64_t step, const Stragglers::Change &change);
  /// How the run ended: "stop", "done".
  void end(const std::string &event, int64_t step, const Values &results, double seconds);
  /// A line of its own on standard error.
  void say(const std::string &line);

  /// Writes what --trace and --gradients ask for, and says what --profile does; what cannot be
  /// written is told of. Whether all was.
  bool writeLast();

  /// What --profile asks for as a JSON object; "" without it, and where no step was run.
  std::string profileJson() const;

  /// Nothing more is told: the last line is left as it is.
  void close() { progress.reset(); }

private:
  template <typename Sink, typename Write> void attempt(std::optional<Sink> &sink, Write write);

  Program &program;
  const RunOptions &options;
  std::string unit;
  std::optional<MetricsFile> metrics;
  std::optional<TensorBoard> tensorboard;
  std::optional<Gradients> gradients;
  std::optional<Profiler> profiler;
  std::optional<Progress> progress; // of the first process alone
};

} // namespace weir

#endif
