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

/// A part of one microbatch on one stage.
struct Slot {
  enum Kind { forward, backward, weights } kind;
  int64_t chunk;      ///< which of the rank's stages, 0 the first
  int64_t microbatch; ///< from 0 on
  bool operator==(const Slot &) const = default;
};

/// What a schedule is asked for.
struct Pipe {
  int64_t ranks;        ///< along pp
  int64_t chunks;       ///< stages of each rank
  int64_t microbatches; ///< of a step
};

struct Schedule {
  PipelineSchedule::Kind kind;
  bool splitsWeights; ///< gradients of parameters are a part of their own
  int64_t chunks;     ///< stages that each rank gets
  /// Why it cannot be, with what to do, or "".
  std::string (*check)(const Pipe &pipe);
  std::vector<Slot> (*order)(const Pipe &pipe, int64_t rank);
  /// The share of time that ranks wait in, by its paper, where all stages take as long.
  double (*bubble)(const Pipe &pipe);
};

/// The schedule that a strategy asks for.
Schedule scheduleOf(const PipelineSchedule &asked);

/// What a table comes to, in units of time: each rank does its next part as soon as what it needs
/// is there. Nothing where ranks wait for each other.
struct Measured {
  double time = 0, busy = 0;         ///< of the step, and of all ranks together
  std::vector<int64_t> mostInFlight; ///< microbatches, of each rank, whose activations are alive
  double bubble(int64_t ranks) const { return time / (busy / double(ranks)) - 1; }
};
/// What a part takes.
struct Costs {
  double forward = 1, backward = 2, weights = 0;
};
std::optional<Measured> measure(const Schedule &schedule, const Pipe &pipe, const Costs &costs);

} // namespace weir::stages

#endif
