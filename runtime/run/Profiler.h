//===- Profiler.h - Adds up the times of a run's steps --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first step runs with cold caches and untouched memory. So it is left out as soon as there is
// another.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_PROFILER_H
#define WEIR_RUNTIME_RUN_PROFILER_H

#include "runtime/core/Program.h"
#include "runtime/report/Profile.h"
#include "runtime/report/Record.h"
#include <optional>

namespace weir {

class Profiler {
public:
  /// Profiles the entry `step`, whose times `program` sums from before the first step on. Both must
  /// outlive it.
  Profiler(const Program &program, const artifact::Entry &step);

  /// Call right after the step, before another entry runs.
  void step(const StepRecord &record);
  /// The seconds from the record to the end of the step.
  void told(double seconds) { all.around += seconds; }

  /// The profile of all steps except the first; of the first if there is no other; nothing without
  /// steps.
  std::optional<Profile> profile() const;

private:
  const Program &program;
  const artifact::Entry &entry;
  uint32_t index = 0;    // of the entry
  StepTimes all, first;  // first: only as long as there is no other step
  Trace::Sums firstSums; // of the first step
};

} // namespace weir

#endif
