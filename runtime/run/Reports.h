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
  /// Writes nothing yet. Throws Failure(Exit::usage) if gradients are requested and `step` outputs
  /// none. All three arguments must outlive it.
  Reports(Program &program, const artifact::Entry &step, const RunOptions &options);

  /// Opens all outputs, so that an unwritable path fails before the run; call before any function
  /// below. `unit` is "tokens" or "samples"; the run continues after `done` of `total` steps.
  /// Throws Failure(Exit::storage).
  void open(const std::string &unit, int64_t done, int64_t total);

  /// Call right after the entry ran, before another one does.
  void keepGradients();
  void step(const StepRecord &record);
  /// The seconds that reporting the step, and other work after it, took.
  void told(double seconds);
  /// Reports the figures of held-out data after `step` steps.
  void evaluation(int64_t step, const Values &figures, double seconds);
  /// Reports after `step` steps that a rank has become slow, or is no longer slow.
  void slowRank(int64_t step, const Stragglers::Change &change);
  /// Reports how the run ended: "stop", "done".
  void end(const std::string &event, int64_t step, const Values &results, double seconds);
  /// Prints a line of its own on standard error.
  void say(const std::string &line);

  /// Writes the files of --trace and --gradients, and prints the profile of --profile. Reports what
  /// it cannot write. Returns whether it wrote everything.
  bool writeLast();

  /// The profile as a JSON object; "" without --profile, or if no step ran.
  std::string profileJson() const;

  /// Ends reporting; the last progress line stays as it is.
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
  std::optional<Progress> progress; // only in the first process
};

} // namespace weir

#endif
