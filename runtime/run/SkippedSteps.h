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
  /// Both have to outlive it.
  SkippedSteps(const Program &program, const RunOptions &options)
      : program(program), options(options), aborts(options.nan != "skip" && !options.replay) {}

  /// Goes on counting from there.
  void resume(const Manifest &before);
  /// The run began with a value that is not finite and that steps write: "'w' is nan in FILE".
  void beganWith(std::string value) { notFinite = std::move(value); }

  /// The next step that is not finite ends the run.
  void abortNow() { aborts = true; }

  /// Counts a step that was run. Returns what there is to tell of it, or "". Throws
  /// Failure(Exit::numeric) where it ends the run; `newest` is " The newest checkpoint is PATH.",
  /// or "" where there is none. Of a step that is not finite, `inData` is asked for what is not in
  /// its data, if anything (Dataset::notFinite).
  std::string add(const StepRecord &record, const std::string &newest,
                  const std::function<std::optional<std::string>()> &inData);

  /// Throws Failure(Exit::numeric) where all of the `done` steps were skipped.
  void requireLearnt(int64_t done) const;

  int64_t skipped() const { return count; }
  int64_t inARow() const { return lastOnes; } ///< of the last steps
  int64_t overflowsInARow() const { return overflows; }

private:
  /// A sentence, after a blank, on what may be the cause of a step that is not finite; `data` is
  /// what its data have that is not.
  std::string adviceOn(const StepRecord &record, const std::optional<std::string> &data) const;

  const Program &program;
  const RunOptions &options;
  bool aborts; // at the first step that is not finite
  int64_t count = 0, lastOnes = 0, overflows = 0;
  int64_t learnt = 0;    // steps that changed something
  std::string notFinite; // as long as no step has changed it
  std::string advice;    // what may help against the last step that was not finite
};

} // namespace weir

#endif
