//===- StepTerms.h - The terms of a step's estimate -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The closed form behind Estimator::estimate: one function for each axis or resource, with its
// formula. Times are seconds of a step, sizes are bytes of a rank. The letters of the formulas:
//
//   m                 microbatches of a step
//   dp, pp, tp, cp, ep  sizes of the mesh's axes
//   P, G              bytes of the parameters and of their gradients on a rank of tp and ep, of all
//                     layers
//   body, computing   seconds of a microbatch through all layers on the first devices: with
//                     communication, and without it (StepSample)
//
// The figures of a sample come from lowering it, and those of devices and links from the cluster.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_STEPTERMS_H
#define WEIR_PLANNER_STEPTERMS_H

#include "planner/Facts.h"
#include "planner/Lower.h"

namespace weir::planner {

/// The sizes of a mesh's axes; 1 for an axis that it does not have.
struct AxisSizes {
  int64_t pp = 1, dp = 1, ep = 1, cp = 1, tp = 1;

  static AxisSizes of(const Mesh &mesh);
  /// Axes that communicate most are innermost. One rank has no axes.
  Mesh mesh() const;
  int64_t ranks() const { return pp * dp * ep * cp * tp; }
};

/// Seconds and bytes of a step on one rank of dp and pp: all layers, and all parameters of its part
/// of tp and ep.
struct StepSample {
  std::string why;        ///< why it cannot be compiled; "" if it can
  double body = 0;        ///< seconds of a microbatch
  double computing = 0;   ///< of that, without communication
  double recomputing = 0; ///< of that, what is computed again
  double communicating = 0;
  double outside = 0; ///< seconds of a step outside of its microbatches
  RankMemory memory;
  double ofLayers = 0; ///< bytes of scratch that grow with layers
  double rows = 0;     ///< of a microbatch
  /// Bytes of scratch that grow with rows: those that a microbatch saves for its gradients, and
  /// others.
  double kept = 0, passing = 0;
};

/// What the terms are computed from. The references outlive it.
struct StepShape {
  const Strategy &strategy;
  const Cluster &cluster;
  AxisSizes sizes;
  double microbatches = 1;  ///< m
  double rowsOfRank = 1;    ///< of a microbatch, on the rank that has most
  double gradientBytes = 0; ///< G
  StepSample sample;

  double parameterBytes() const { return double(sample.memory.parameters); } ///< P
  /// Ranks that ZeRO shards over: dp and cp. Experts may be sharded over ep already.
  double sharedBy() const { return double(sizes.dp) * double(sizes.cp); }
  /// Whether communication along the axis overlaps with computation.
  bool overlapsOver(std::string_view axis) const;
};

/// The rows of a microbatch on the rank that has most:
///   rows / m / (dp ep) * the largest share of dp (1 on average)
/// Nothing where there are fewer rows than ranks, with the reason.
std::optional<double> rowsOfFullestRank(const Mesh &mesh, int64_t rows, int64_t microbatches,
                                        std::string &why);

/// Bytes of the gradients, which are f32:
///   G = P * the part of parameters that a step changes * (2 with bf16 parameters)
double gradientBytesOf(const Strategy &strategy, double parameterBytes, double trained);

/// How the stages divide a microbatch.
struct StageTerm {
  double work = 1;       ///< part of a microbatch's work on the rank that has most
  double slowest = 1;    ///< time of the slowest rank for its part, in times of all layers on the
                         ///< first devices
  double mean = 1;       ///< the same, of all stages on average
  double parameters = 1; ///< part of the parameters on the rank that has most
};

/// Without a pipeline: the one stage, on devices of that slowness.
StageTerm oneStage(double slowness);
/// The stages of the ranks along pp, `chunks` for each rank: stage i is on rank i modulo pp.
/// `slowness` is of each rank (slownessOfStages).
StageTerm stageTermOf(const std::vector<StageShare> &stages, int64_t chunks,
                      const std::vector<double> &slowness);

/// What the pipeline adds to a step, in seconds.
struct PipelineTerm {
  double waiting = 0; ///< ranks wait for each other, where all stages take as long
  double sending = 0; ///< activations and their gradients are sent while nothing is computed
};

/// `bubble` is the idle share of the schedule, by its paper (passes/stages/Schedules.h);
/// `crossing` has the bytes of a row that pass from stage to stage.
///   waiting = bubble * m * body * mean stage
///   send    = crossing * rows of the rank / (tp cp), over the link from a stage to the next one
///   sending = 2 * chunks * (pp - 1) * send       the first and the last microbatch pass all stages
///           + max(0, m * (2 * send - body of the slowest stage))        where sends overlap
///             or m * chunks * 2 * send                                  where they do not
PipelineTerm pipelineTerm(const StepShape &step, const StageTerm &stage, double chunks,
                          double bubble, double crossing);

/// The optimizer's step, and what else a step executes once, in seconds:
///   outside * part of the parameters / (dp cp with ZeRO 1 and above)
double updateTerm(const StepShape &step, const StageTerm &stage);

/// The communication of gradients and parameters over dp that is not overlapped, in seconds. The
/// volumes are those of Rajbhandari et al., "ZeRO: memory optimizations toward training trillion
/// parameter models", SC 2020:
///   ZeRO 0    reduce-scatter and all-gather of gradients
///   ZeRO 1, 2 reduce-scatter of gradients, all-gather of updated parameters
///   ZeRO 3    reduce-scatter of gradients, 2 m all-gathers of parameters
/// each of (dp - 1) / dp of the rank's part, in the types of `grad-reduce-dtype` and `precision`.
/// Backward is taken to be two thirds of computing, and hides as much of them, but an eighth at
/// least is not overlapped.
double dataParallelTerm(const StepShape &step, const StageTerm &stage);

/// The time of a step without offload, from its terms:
///   computing   = m * computing * mean stage + update
///   recomputing = m * recomputing * mean stage
///   bubble      = waiting + m * computing * (slowest stage - mean stage)
///   exposed     = sending + m * (body - computing) * slowest stage + data parallel
///   seconds     = m * body * slowest stage + waiting + update + sending + data parallel
Prediction sumOfTerms(const StepShape &step, const StageTerm &stage, const PipelineTerm &pipeline);

/// How many microbatches' activations the first rank of a pipeline saves at a time:
///   GPipe m; others min(m, pp); interleaved min(m, (2 (pp - 1) + (chunks - 1) pp + 1) / chunks)
/// in units of all its layers. Sources: passes/stages/Schedules.cpp. 1 without a pipeline.
double microbatchesInFlight(const StepShape &step, double chunks);

/// The bytes of a rank. Of the sample's:
///   parameters * part of the parameters / (dp cp with ZeRO 3)
///   optimizer  * part of the parameters / (dp cp with ZeRO 1 and above)
///   scratch    = what does not grow with rows * part of the parameters + what is not saved
///              + what is saved * part of the work * microbatches in flight
/// With ZeRO 3 and one microbatch a rank has only its part of the gradients.
RankMemory memoryTerm(const StepShape &step, const StageTerm &stage, double chunks);

/// Moves the offloaded variables to the host's memory. Returns the seconds of reading and writing
/// each once in a step: 2 * bytes / host bandwidth.
double offloadTerm(const StepShape &step, RankMemory &memory);

} // namespace weir::planner

#endif
