//===- Profile.h - What the time of a step goes to ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The actions of an entry with the time they took and what they achieved in it, those that do the
// same for the same lines of the model as one; and what is no action, so that together it is all of
// the step.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_PROFILE_H
#define WEIR_RUNTIME_REPORT_PROFILE_H

#include "artifact/Artifact_generated.h"
#include "runtime/core/Trace.h"
#include <string>
#include <vector>

namespace weir {

/// The seconds that some steps took, by what for.
struct StepTimes {
  int64_t steps = 0;
  double waiting = 0; ///< for data to be read
  double running = 0; ///< the entry, from before its first action to after its last
  double around = 0;  ///< that: the batch copied to the device, results read and reported
};

/// Everything is of one step, on average.
struct Profile {
  struct Row {
    std::string what; ///< "product 64x32x16", "kernel_3, row", "copy"
    std::vector<std::string>
        kernels;                 ///< their names, in the plan's order; none of calls and copies
    std::vector<std::string> at; ///< the model's lines, as "gpt.weir:12"
    double runs = 0;             ///< the parts of a kernel are one
    double seconds = 0;
    double flops = 0, bytes = 0; ///< 0: not known
  };

  int64_t steps = 0;
  bool withFirst = false; ///< the first step of the run is one of them: there is no other
  std::string mesh;       ///< of whose ranks it is the first's, as "pp=2,tp=2"; "": of one device
  std::vector<Row> rows;  ///< by time, the longest first
  double dispatch = 0;    ///< seconds in the entry, but in none of its actions
  double waiting = 0, around = 0;

  /// Of the rows, of what is no action, of both.
  double actions() const;
  double idle() const { return dispatch + waiting + around; }
  double seconds() const { return actions() + idle(); }
};

/// Of `times.steps` runs of the entry, more than none, whose actions took `sums`. Launches are one
/// row where they compute the same ops for the same lines, whatever the sizes, as repeated layers
/// and an optimizer's updates do; calls and copies where their words are the same.
Profile profileOf(const artifact::Program &program, const artifact::Entry &entry,
                  const Trace::Sums &sums, const StepTimes &times);

/// As lines to read: the `most` rows that took longest, the others as one.
std::vector<std::string> profileText(const Profile &profile, size_t most = 30);

/// All of it, as a JSON object.
std::string profileJson(const Profile &profile);

} // namespace weir

#endif
