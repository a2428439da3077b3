//===- Progress.h - A run as someone watches it ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Standard error while training: one line that is rewritten on a terminal, a plain line now and
// then elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_PROGRESS_H
#define WEIR_RUNTIME_REPORT_PROGRESS_H

#include "runtime/report/Record.h"
#include "runtime/report/StatusLine.h"
#include <chrono>

namespace weir {

class Progress {
public:
  /// `unit`: "tokens" or "samples". Writes to `out`; `live` is whether lines may be rewritten
  /// there.
  Progress(std::FILE *out, bool live, std::string unit, int64_t firstStep, int64_t totalSteps);

  void step(const StepRecord &record);

  /// A line of its own.
  void say(const std::string &line) { status.say(line); }

private:
  std::string line(const StepRecord &record) const;

  using Clock = std::chrono::steady_clock;
  StatusLine status;
  const std::string unit;
  const int64_t total, every; // steps between plain lines
  Clock::time_point shown;
  bool first = true;
  // Since the last line that was shown, so that the rates are of now.
  double seconds = 0, units = 0;
  int64_t steps = 0;
  double stepSeconds = 0, rate = 0;
};

} // namespace weir

#endif
