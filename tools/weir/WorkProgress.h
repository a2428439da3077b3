//===- WorkProgress.h - How far along a piece of work is ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Standard error while something long runs whose parts were estimated beforehand: one line that is
// rewritten on a terminal, a plain line every half a minute elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_WORKPROGRESS_H
#define WEIR_TOOLS_WEIR_WORKPROGRESS_H

#include "runtime/report/StatusLine.h"
#include <chrono>
#include <string>

namespace weir {

class WorkProgress {
public:
  /// `total`: the estimate of all of it; its unit is that of worked().
  explicit WorkProgress(double total, std::FILE *out = stderr);

  void worked(double amount);
  /// A line of its own.
  void say(const std::string &line) { status.say(line); }

private:
  using Clock = std::chrono::steady_clock;
  StatusLine status;
  const double total;
  double done = 0;
  const Clock::time_point start;
  Clock::time_point shown;
};

} // namespace weir

#endif
