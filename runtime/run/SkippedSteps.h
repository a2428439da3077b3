//===- SkippedSteps.h - Steps that were not finite ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step whose update is not finite is skipped: it changes nothing. --nan and --nan-limit decide
// whether the run continues after it. A run that began with a value that is not finite cannot
// continue with any of their values.
//
// A step whose gradients overflow because of the loss scale is skipped, too. But a dynamic scale
// finds its size in this way. So such a step is no failure, with any --nan, unless there are more
// of them in a row than a scale can be halved. A constant scale may have as many.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_SKIPPEDSTEPS_H
#define WEIR_RUNTIME_RUN_SKIPPEDSTEPS_H

#include "runtime/checkpoint/Manifest.h"
#include "runtime/core/Program.h"
#include "runtime/report/Record.h"
#include "runtime/run/RunOptions.h"
#include <functional>
#include <optional>

namespace weir {

class SkippedSteps {
public:
  /// Both must outlive it.
  SkippedSteps(const Program &program, const RunOptions &options)
      : program(program), options(options), aborts(options.nan != "skip" && !options.replay) {}

  /// Continues counting from there.
  void resume(const Manifest &before);
  /// The run began with a non-finite value in a variable that steps write: "'w' is nan in FILE".
  void beganWith(std::string value) { notFinite = std::move(value); }

  /// From now on, the first step that is not finite ends the run.
  void abortNow() { aborts = true; }

  /// Counts a step that ran. Returns a message about it, or "". Throws Failure(Exit::numeric) if it
  /// ends the run; `newest` is " The newest checkpoint is PATH.", or "" if there is none. For a
  /// step that is not finite, calls `inData` for the non-finite values in its data
  /// (Dataset::notFinite).
  std::string add(const StepRecord &record, const std::string &newest,
                  const std::function<std::optional<std::string>()> &inData);

  /// Throws Failure(Exit::numeric) if all of the `done` steps were skipped.
  void requireLearnt(int64_t done) const;

  int64_t skipped() const { return count; }
  int64_t inARow() const { return lastOnes; } ///< skipped steps in a row, at the end
  int64_t overflowsInARow() const { return overflows; }

private:
  /// A sentence, after a blank, about the likely cause of a step that is not finite; `data`
  /// describes non-finite values in its data.
  std::string adviceOn(const StepRecord &record, const std::optional<std::string> &data) const;

  const Program &program;
  const RunOptions &options;
  bool aborts; // at the first step that is not finite
  int64_t count = 0, lastOnes = 0, overflows = 0;
  int64_t learnt = 0;    // steps that were not skipped
  std::string notFinite; // until a step changes it
  std::string advice;    // what may help against the last step that was not finite
};

} // namespace weir

#endif
