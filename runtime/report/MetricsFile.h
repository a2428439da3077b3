//===- MetricsFile.h - A run as a program reads it ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --metrics FILE.jsonl, or - for standard output: one flat JSON object per line. A step's has step,
// the model's values, step_ms and tokens_per_second or samples_per_second, with --peak-flops mfu
// and hfu; an evaluation's "event":"eval"; the last one "event":"done". Numbers are printed so that
// a float comes back exactly; what is not finite is null.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_METRICSFILE_H
#define WEIR_RUNTIME_REPORT_METRICSFILE_H

#include "runtime/report/Record.h"

namespace weir {

class MetricsFile {
public:
  /// Begins `path` anew, or, resuming after `doneSteps`, goes on behind the lines of those steps:
  /// what a killed run wrote after its last checkpoint is computed again. "-" is standard output,
  /// which is never cut. Throws Failure(Exit::storage).
  MetricsFile(std::string path, int64_t doneSteps);
  ~MetricsFile();
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;

  /// Both throw Failure(Exit::storage); the file then ends with the last line that was whole.
  void step(const StepRecord &record, const std::string &unit);
  /// {"event":EVENT,"step":STEP,VALUES...,"seconds":SECONDS}
  void event(const std::string &event, int64_t step, const Values &values, double seconds);

private:
  void write(const std::string &line);
  std::string path;
  int file;
};

} // namespace weir

#endif
