//===- Profiler.cpp - Adds up the times of a run's steps ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Profiler.h"

namespace weir {

Profiler::Profiler(const Program &program, const artifact::Entry &step)
    : program(program), entry(step) {
  while (program.plan().entries()->Get(index) != &step)
    ++index;
}

void Profiler::step(const StepRecord &record) {
  if (all.steps == 0)
    firstSums = program.trace()->sums(index);
  else if (all.steps == 1)
    first = all;
  ++all.steps;
  all.waiting += record.waited;
  all.running += record.ran;
  all.around += record.seconds - record.ran;
}

std::optional<Profile> Profiler::profile() const {
  if (all.steps == 0)
    return std::nullopt;
  Trace::Sums sums = program.trace()->sums(index);
  StepTimes times = all;
  for (size_t i = 0; first.steps > 0 && i < sums.size(); ++i) {
    sums[i].runs -= firstSums[i].runs;
    sums[i].time -= firstSums[i].time;
  }
  times.steps -= first.steps;
  times.waiting -= first.waiting;
  times.running -= first.running;
  times.around -= first.around;
  Profile profile = profileOf(program.plan(), entry, sums, times);
  profile.withFirst = first.steps == 0;
  return profile;
}

} // namespace weir
