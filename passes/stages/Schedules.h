//===- Schedules.h - Pipeline schedules -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is a table. For each rank of a pipeline, it lists the sections of microbatches in the
// order in which the rank computes them. In every schedule, gradients are computed in the order of
// microbatches, so sums of gradients do not depend on the schedule.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_STAGES_SCHEDULES_H
#define WEIR_PASSES_STAGES_SCHEDULES_H

#include "strategy/Values.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::stages {

/// A section of one microbatch on one stage.
struct Slot {
  enum Kind { forward, backward, weights } kind;
  int64_t chunk;      ///< index among the rank's stages
  int64_t microbatch; ///< index
  bool operator==(const Slot &) const = default;
};

/// The parameters of a schedule.
struct Pipe {
  int64_t ranks;        ///< along pp
  int64_t chunks;       ///< stages of each rank
  int64_t microbatches; ///< of a step
};

struct Schedule {
  PipelineSchedule::Kind kind;
  bool splitsWeights; ///< gradients of parameters are a section of their own
  int64_t chunks;     ///< stages per rank
  /// Why it is impossible, with what to do, or "".
  std::string (*check)(const Pipe &pipe);
  std::vector<Slot> (*order)(const Pipe &pipe, int64_t rank);
  /// The idle share of the time, as its paper states it, with equal stages.
  double (*bubble)(const Pipe &pipe);
};

/// The schedule that a strategy selects.
Schedule scheduleOf(const PipelineSchedule &asked);

/// The simulated result of a table, in units of time: each rank starts its next section as soon as
/// its operands are there. Nothing if ranks deadlock.
struct Measured {
  double time = 0, busy = 0; ///< of the step, and of all ranks together
  std::vector<int64_t>
      mostInFlight; ///< for each rank, the most microbatches whose activations are alive
  double bubble(int64_t ranks) const { return time / (busy / double(ranks)) - 1; }
};
/// The time of a section.
struct Costs {
  double forward = 1, backward = 2, weights = 0;
};
std::optional<Measured> measure(const Schedule &schedule, const Pipe &pipe, const Costs &costs);

} // namespace weir::stages

#endif
