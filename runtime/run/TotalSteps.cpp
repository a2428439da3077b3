//===- TotalSteps.cpp - The number of steps of a run ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/TotalSteps.h"
#include "runtime/checkpoint/Manifest.h"
#include "runtime/report/Say.h"
#include "support/Error.h"
#include "support/Text.h"
#include <limits>

namespace weir {

/// The schedules of the prelude cut a warm-up to a quarter of the run. `weir check` says so of the
/// recipe's own steps (frontend/elaborate/TrainingWarnings.cpp).
static void warnOfWarmup(const artifact::Program &plan, int64_t total) {
  int64_t warmup = static_cast<int64_t>(plan.warmup());
  if (warmup > total / 4 && total != static_cast<int64_t>(plan.steps()))
    say(concat("warning: the warm-up of ", warmup, " steps is cut to ", total / 4,
               ", a quarter of the run's ", total));
}

static int64_t stepsOfRun(const artifact::Program &plan, const RunOptions &options,
                          int64_t perEpoch, const Manifest *resumed) {
  bool asked = options.steps > 0 || options.epochs > 0;
  int64_t steps = asked ? options.steps : static_cast<int64_t>(plan.steps());
  int64_t epochs = asked ? options.epochs : static_cast<int64_t>(plan.epochs());
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  int64_t total = 0;
  if (steps > 0)
    total = steps;
  else if (epochs > 0 && epochs <= most / perEpoch)
    total = epochs * perEpoch;
  else
    throw Failure(Exit::usage, concat(epochs, " epochs of ", perEpoch, " steps are more than ",
                                      most, " steps; give --steps or fewer --epochs"));
  if (total > most)
    throw Failure(Exit::model,
                  concat("the recipe asks for ", total, " steps; at most ", most, " can be run"));
  if (!resumed)
    return total;
  int64_t before = resumed->totalSteps;
  if (!options.extend && asked && total != before)
    throw Failure(Exit::usage, concat("the run in ", options.checkpoint, " was started for ",
                                      before, " steps, but this command asks for ", total,
                                      ", which changes the learning-rate schedule; add --extend to "
                                      "allow it, or leave out --steps and --epochs"));
  if (options.extend)
    return total;
  if (total != before)
    say(concat("the recipe asks for ", total, " steps; the run continues for the ", before,
               " that it was started for (--extend takes the recipe's)"));
  return before;
}

int64_t totalSteps(const artifact::Program &plan, const RunOptions &options, int64_t perEpoch,
                   const Manifest *resumed) {
  int64_t total = stepsOfRun(plan, options, perEpoch, resumed);
  warnOfWarmup(plan, total);
  return total;
}

} // namespace weir
