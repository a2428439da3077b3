//===- StepTerms.cpp - The terms of a step's estimate -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/StepTerms.h"
#include "support/Text.h"
#include "support/mesh/Layout.h"

namespace weir::planner {

AxisSizes AxisSizes::of(const Mesh &mesh) {
  AxisSizes sizes;
  for (const Mesh::Axis &axis : mesh.withoutNodes().axes) {
    int64_t &size = axis.name == stageAxis     ? sizes.pp
                    : axis.name == dataAxis    ? sizes.dp
                    : axis.name == expertAxis  ? sizes.ep
                    : axis.name == contextAxis ? sizes.cp
                                               : sizes.tp;
    size = axis.size;
  }
  return sizes;
}

Mesh AxisSizes::mesh() const {
  Mesh mesh;
  for (auto [name, size] :
       {std::pair(stageAxis, pp), std::pair(dataAxis, dp), std::pair(expertAxis, ep),
        std::pair(contextAxis, cp), std::pair(tensorAxis, tp)})
    if (size > 1)
      mesh.axes.push_back({std::string(name), size});
  return mesh;
}

bool StepShape::overlapsOver(std::string_view axis) const {
  const Mesh &mesh = strategy.mesh;
  return *strategy.overlap && overlaps(cluster, membersOf(mesh, unsigned(mesh.find(axis))));
}

std::optional<double> rowsOfFullestRank(const Mesh &mesh, int64_t rows, int64_t microbatches,
                                        std::string &why) {
  const AxisSizes sizes = AxisSizes::of(mesh);
  Piece rowsOfAll{rows / microbatches};
  for (std::string_view axis : {nodesAxis, dataAxis, expertAxis})
    if (int number = mesh.find(axis); number >= 0)
      rowsOfAll.axes.push_back(unsigned(number));
  if (!rowsOfAll.hasPlaceForAll(mesh)) {
    why = concat("a microbatch has ", rows / microbatches, " rows, too few for ",
                 sizes.dp * sizes.ep, " ranks: expected at least one row per rank");
    return std::nullopt;
  }
  double rowsOfRank = double(rows) / double(microbatches) / double(sizes.dp * sizes.ep);
  if (int data = mesh.find(dataAxis); data >= 0) {
    const Mesh::Axis &axis = mesh.axes[size_t(data)];
    rowsOfRank *= axis.shareAt(axis.fullest());
  }
  return rowsOfRank;
}

double gradientBytesOf(const Strategy &strategy, double parameterBytes, double trained) {
  return parameterBytes * trained * (*strategy.paramType == Element::bf16 ? 2 : 1);
}

StageTerm oneStage(double slowness) { return {.slowest = slowness, .mean = slowness}; }

StageTerm stageTermOf(const std::vector<StageShare> &stages, int64_t chunks,
                      const std::vector<double> &slowness) {
  const auto ranks = int64_t(slowness.size());
  StageTerm term{.work = 0, .slowest = 0, .mean = 0, .parameters = 0};
  for (int64_t rank = 0; rank < ranks; ++rank) {
    double work = 0, held = 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      work += stages[size_t(chunk * ranks + rank)].work;
      held += stages[size_t(chunk * ranks + rank)].parameters;
    }
    term.work = std::max(term.work, work);
    term.slowest = std::max(term.slowest, work * slowness[size_t(rank)]);
    term.mean += work * slowness[size_t(rank)] / double(ranks);
    term.parameters = std::max(term.parameters, held);
  }
  return term;
}

PipelineTerm pipelineTerm(const StepShape &step, const StageTerm &stage, double chunks,
                          double bubble, double crossing) {
  const AxisSizes &sizes = step.sizes;
  const double m = step.microbatches, pp = double(sizes.pp);
  const double bytes = crossing * step.rowsOfRank / double(sizes.tp * sizes.cp);
  const double send = secondsToSend(step.cluster, 0, sizes.ranks() / sizes.pp, bytes);
  PipelineTerm term;
  term.waiting = bubble * m * step.sample.body * stage.mean;
  // A rank's sends of a microbatch: activations forward, and their gradients backward.
  term.sending = 2 * chunks * (pp - 1) * send +
                 (step.overlapsOver(stageAxis)
                      ? std::max(0.0, m * (2 * send - step.sample.body * stage.slowest))
                      : m * chunks * 2 * send);
  return term;
}

double updateTerm(const StepShape &step, const StageTerm &stage) {
  return step.sample.outside * stage.parameters / (*step.strategy.zero >= 1 ? step.sharedBy() : 1);
}

/// Backward has twice the FLOPs of forward: two products for each.
constexpr double partsOfBackward = 2, partsOfStep = 3;
/// One part in so many of a collective is not overlapped at least. An estimate.
constexpr double exposedOneOf = 8;

double dataParallelTerm(const StepShape &step, const StageTerm &stage) {
  const AxisSizes &sizes = step.sizes;
  const Strategy &strategy = step.strategy;
  if (sizes.dp == 1)
    return 0;
  const double m = step.microbatches, dp = double(sizes.dp);
  const Members who{sizes.dp, sizes.ep * sizes.cp * sizes.tp};
  const double moved = (dp - 1) / dp * stage.parameters;
  // Parts of f32. Products fetch what they multiply, and bf16 parameters are as narrow already.
  const bool isLow = sizeOf(rowOf(*strategy.precision).stored) < sizeOf(Element::f32);
  const double sent = double(sizeOf(*strategy.gradReduceType)) / double(sizeOf(Element::f32)),
               read = isLow && *strategy.paramType == Element::f32 ? 0.5 : 1;
  auto gather = [&](double bytes) { return secondsToGather(step.cluster, who, bytes); };
  const double gradients = moved * step.gradientBytes * sent,
               parameters = moved * step.parameterBytes();
  const double summing = secondsToExchange(step.cluster, who, gradients);
  const double exchanging = *strategy.zero == 0   ? summing + gather(gradients)
                            : *strategy.zero <= 2 ? summing + gather(parameters)
                                                  : summing + 2 * m * gather(parameters * read);
  // The last microbatch's backward overlaps, or with ZeRO 3 that of each.
  const double beside = sizes.pp > 1 || !step.overlapsOver(dataAxis)
                            ? 0
                            : (*strategy.zero >= 3 ? m : 1.0) * step.sample.computing *
                                  stage.slowest * partsOfBackward / partsOfStep;
  return std::max(exchanging - beside, exchanging / exposedOneOf);
}

Prediction sumOfTerms(const StepShape &step, const StageTerm &stage, const PipelineTerm &pipeline) {
  const StepSample &sample = step.sample;
  const double m = step.microbatches;
  const double updating = updateTerm(step, stage);
  // Communication within microbatches, which `body` includes.
  const double withinBodies = m * stage.slowest * (sample.body - sample.computing);
  Prediction prediction;
  prediction.computing = m * sample.computing * stage.mean + updating;
  prediction.recomputing = m * sample.recomputing * stage.mean;
  prediction.bubble = pipeline.waiting + m * sample.computing * (stage.slowest - stage.mean);
  prediction.exposed = pipeline.sending + withinBodies + dataParallelTerm(step, stage);
  prediction.seconds = m * sample.body * stage.slowest + pipeline.waiting + updating +
                       prediction.exposed - withinBodies;
  return prediction;
}

double microbatchesInFlight(const StepShape &step, double chunks) {
  if (step.sizes.pp == 1)
    return 1;
  const double m = step.microbatches, pp = double(step.sizes.pp);
  const double ahead = chunks == 1 ? pp : (2 * (pp - 1) + (chunks - 1) * pp + 1) / chunks;
  return std::min(m, step.strategy.schedule->kind == PipelineSchedule::gpipe ? m : ahead);
}

RankMemory memoryTerm(const StepShape &step, const StageTerm &stage, double chunks) {
  const StepSample &sample = step.sample;
  const int64_t zero = *step.strategy.zero;
  const double shared = step.sharedBy();
  auto part = [](int64_t bytes, double of) { return int64_t(double(bytes) * of); };
  RankMemory memory = sample.memory;
  memory.parameters = part(memory.parameters, stage.parameters / (zero >= 3 ? shared : 1));
  memory.optimizer = part(memory.optimizer, stage.parameters / (zero >= 1 ? shared : 1));
  double same = std::max(0.0, double(memory.scratch) - sample.kept - sample.passing);
  if (zero >= 3 && step.microbatches == 1)
    same = std::max(0.0, same - step.gradientBytes * (1 - 1 / shared));
  memory.scratch = int64_t(same * stage.parameters + sample.passing +
                           sample.kept * stage.work * microbatchesInFlight(step, chunks));
  return memory;
}

double offloadTerm(const StepShape &step, RankMemory &memory) {
  const OffloadedVariables variables = step.strategy.offload->variables;
  if (variables == OffloadedVariables::none)
    return 0;
  memory.host = memory.optimizer;
  memory.optimizer = 0;
  if (variables == OffloadedVariables::parameters) {
    memory.host += memory.parameters;
    memory.parameters = 0;
  }
  return 2 * double(memory.host) / step.cluster.deviceOf(0).hostBandwidth;
}

} // namespace weir::planner
