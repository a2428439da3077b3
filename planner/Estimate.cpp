//===- Estimate.cpp - What a strategy comes to, without lowering it ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Estimate.h"
#include "passes/stages/Schedules.h"
#include "planner/Prices.h"
#include "planner/Shares.h"
#include "planner/Shrink.h"
#include "strategy/Fields.h"

using namespace mlir;

namespace weir::planner {

/// The number of microbatches, of those there may be, whose rows are nearest to what a rank of the
/// strategy has in one of its own.
static int64_t countWithRows(const Facts &facts, double rowsOfRank, int64_t ep) {
  int64_t best = facts.counts.front();
  auto distance = [&](int64_t count) {
    return std::abs(std::log(double(facts.rows) / double(count * ep) / rowsOfRank));
  };
  for (int64_t count : facts.counts)
    if (distance(count) < distance(best))
      best = count;
  return best;
}

const StepSample &Estimator::sample(const Strategy &strategy, const AxisSizes &sizes,
                                    int64_t count) {
  AxisSizes ofLayer = sizes;
  ofLayer.dp = ofLayer.pp = 1;
  Strategy reduced = strategy;
  const Strategy standard;
  reduced.mesh = ofLayer.mesh();
  reduced.microbatches = count;
  reduced.zero = standard.zero;
  reduced.schedule = standard.schedule;
  reduced.offload = standard.offload;
  // Those along its own axes, whatever the others are.
  if (strategy.rates) {
    auto [rates, isNew] = ratesOf.try_emplace(reduced.mesh.text());
    if (isNew)
      rates->second = ratesToPlanFor(cluster, reduced.mesh, *strategy.precision);
    reduced.rates = rates->second;
  }
  auto [found, isNew] = sampled.try_emplace(strategy::textOf(reduced));
  if (isNew)
    lower(reduced, found->second);
  found->second.rows = double(facts.rows) / double(count * sizes.ep);
  return found->second;
}

ModuleOp Estimator::withRounds(int64_t rounds) {
  OwningOpRef<ModuleOp> &module = withFewer[rounds];
  if (!module)
    module = shrunk(model, facts.repeats, rounds);
  return *module;
}

/// What a number is with so many rounds, where it is these with one and with one more.
static double extended(double few, double more, int64_t rounds) {
  return few + double(rounds) * (more - few);
}

void Estimator::lower(const Strategy &strategy, StepSample &sample) {
  // The first and the last layer are none like the others.
  constexpr int64_t few = 2;
  const bool isDeep = facts.repeats.rounds > few + 1;
  auto parts = [&](int64_t rounds) {
    return Lowering(withRounds(rounds), options, cluster).parts(strategy, sample.why);
  };
  std::optional<Lowering::Parts> first = parts(isDeep ? few : facts.repeats.rounds),
                                 second = isDeep && first ? parts(few + 1) : first;
  if (!first || !second) {
    if (sample.why.empty())
      sample.why = "it cannot be compiled";
    return;
  }
  const int64_t others = isDeep ? facts.repeats.rounds - few : 0;
  auto of = [&](auto Lowering::Parts::*part) {
    return extended((*first).*part, (*second).*part, others);
  };
  sample.body = of(&Lowering::Parts::body);
  sample.computing = of(&Lowering::Parts::bodyComputing);
  sample.recomputing = of(&Lowering::Parts::bodyRecomputing);
  sample.communicating = of(&Lowering::Parts::bodyCommunicating);
  sample.outside = of(&Lowering::Parts::outside);
  sample.ofLayers =
      isDeep ? double(facts.repeats.rounds) * double(second->memory.scratch - first->memory.scratch)
             : double(first->memory.scratch);
  for (int64_t RankMemory::*kind : {&RankMemory::parameters, &RankMemory::optimizer,
                                    &RankMemory::state, &RankMemory::scratch, &RankMemory::reserve})
    sample.memory.*kind =
        int64_t(extended(double(first->memory.*kind), double(second->memory.*kind), others));
}

/// Where samples have one number of rows, as of a step that is not cut into microbatches: all of it
/// but gradients is taken to be in proportion.
StepSample Estimator::withRows(StepSample sample, double rows) const {
  const double part = rows / sample.rows;
  for (double StepSample::*figure : {&StepSample::body, &StepSample::computing,
                                     &StepSample::recomputing, &StepSample::communicating})
    sample.*figure *= part;
  double scratch = double(sample.memory.scratch),
         gradients = std::min(scratch, facts.trained * double(sample.memory.parameters)),
         grown = part * (scratch - gradients);
  sample.rows = rows;
  sample.kept = std::min(grown, part * sample.ofLayers);
  sample.passing = grown - sample.kept;
  sample.memory.scratch = int64_t(gradients + grown);
  sample.memory.reserve = int64_t(part * double(sample.memory.reserve));
  return sample;
}

StepSample Estimator::sampleOf(const Strategy &strategy, const AxisSizes &sizes, double rowsOfRank,
                               Rows rows) {
  const StepSample &few = sample(strategy, sizes, countWithRows(facts, 1, sizes.ep));
  if (!few.why.empty())
    return sample(strategy, sizes, countWithRows(facts, rowsOfRank, sizes.ep));
  // As few as may be, and some more; what is too large cannot be compiled.
  const StepSample *others = &sample(strategy, sizes, countWithRows(facts, 4 * few.rows, sizes.ep));
  if (!others->why.empty())
    others = &sample(strategy, sizes, countWithRows(facts, 2 * few.rows, sizes.ep));
  if (!others->why.empty())
    return rowsOfRank > few.rows ? *others : few;
  const StepSample &more = *others;
  if (more.rows == few.rows)
    return withRows(few, rowsOfRank);
  // What is the same for any number of rows is of parameters.
  auto slope = [&](double a, double b) { return std::max(0.0, (b - a) / (more.rows - few.rows)); };
  auto at = [&](double a, double b) {
    return std::max(a / 4, a + (rowsOfRank - few.rows) * slope(a, b));
  };
  StepSample result = few;
  if (rows == Rows::met) {
    const StepSample &met = sample(strategy, sizes, countWithRows(facts, rowsOfRank, sizes.ep));
    if (!met.why.empty())
      return met;
    result = met;
  } else {
    for (double StepSample::*figure : {&StepSample::body, &StepSample::computing,
                                       &StepSample::recomputing, &StepSample::communicating})
      result.*figure = at(few.*figure, more.*figure);
    result.memory.scratch = int64_t(at(double(few.memory.scratch), double(more.memory.scratch)));
    result.memory.reserve = int64_t(at(double(few.memory.reserve), double(more.memory.reserve)));
  }
  double grows = rowsOfRank * slope(double(few.memory.scratch), double(more.memory.scratch));
  result.kept = std::min(grows, rowsOfRank * slope(few.ofLayers, more.ofLayers));
  result.passing = grows - result.kept;
  return result;
}

std::optional<Prediction> Estimator::estimate(const Strategy &strategy, Rows rows,
                                              std::string &why) {
  const Mesh &mesh = strategy.mesh;
  const int64_t count = strategy.microbatches.value_or(facts.recipeCount);
  std::optional<double> rowsOfRank = rowsOfFullestRank(mesh, facts.rows, count, why);
  if (!rowsOfRank)
    return std::nullopt;
  StepShape step{.strategy = strategy,
                 .cluster = cluster,
                 .sizes = AxisSizes::of(mesh),
                 .microbatches = double(count),
                 .rowsOfRank = *rowsOfRank};
  step.sample = sampleOf(strategy, step.sizes, std::ceil(*rowsOfRank), rows);
  if (!step.sample.why.empty()) {
    why = step.sample.why;
    return std::nullopt;
  }
  step.gradientBytes = gradientBytesOf(strategy, step.parameterBytes(), facts.trained);

  const std::vector<double> slowness = slownessOfStages(mesh, cluster, nameOf(*strategy.precision));
  StageTerm stage = oneStage(slowness[0]);
  PipelineTerm pipeline;
  double chunks = 1;
  if (step.sizes.pp > 1) {
    const stages::Schedule schedule = stages::scheduleOf(*strategy.schedule);
    const stages::Pipe pipe{step.sizes.pp, schedule.chunks, count};
    if (why = schedule.check(pipe); !why.empty())
      return std::nullopt;
    const Mesh::Axis &axis = mesh.axes[size_t(mesh.find(stageAxis))];
    const auto &stages = facts.stages(axis, pipe.chunks, &why);
    if (!stages)
      return std::nullopt;
    chunks = double(pipe.chunks);
    stage = stageTermOf(*stages, pipe.chunks, slowness);
    pipeline =
        pipelineTerm(step, stage, chunks, schedule.bubble(pipe), facts.crossing(axis, pipe.chunks));
  }
  Prediction prediction = sumOfTerms(step, stage, pipeline);
  prediction.memory = memoryTerm(step, stage, chunks);
  const double offloading = offloadTerm(step, prediction.memory);
  prediction.exposed += offloading;
  prediction.seconds += offloading;
  prediction.fits = cluster.hasRoom(step.sizes.ranks(), prediction.memory.device());
  return prediction;
}

/// A prediction where `few` is what it is with some layers, and `more` with a step of them more:
/// with so many steps in all.
static Prediction extended(const Prediction &few, const Prediction &more, double steps) {
  Prediction all = few;
  auto at = [&](double a, double b) { return a + steps * (b - a); };
  for (double Prediction::*part :
       {&Prediction::seconds, &Prediction::computing, &Prediction::recomputing, &Prediction::bubble,
        &Prediction::exposed, &Prediction::communicating})
    all.*part = at(few.*part, more.*part);
  for (auto [one, a, b] : llvm::zip_equal(all.held, few.held, more.held))
    for (int64_t RankMemory::*kind :
         {&RankMemory::parameters, &RankMemory::optimizer, &RankMemory::state, &RankMemory::scratch,
          &RankMemory::reserve, &RankMemory::host})
      one.memory.*kind = int64_t(at(double(a.memory.*kind), double(b.memory.*kind)));
  all.isLowered = false;
  return all;
}

/// Whether as many programs are held on as many kinds of devices, which extended() asks for.
static bool areAlike(const Prediction &few, const Prediction &more, std::string &why) {
  bool alike = few.held.size() == more.held.size();
  if (!alike)
    why = "its ranks need different numbers of programs in a sample and in the whole model, so it "
          "cannot be estimated: compile it (--exact)";
  return alike;
}

std::optional<Prediction> Estimator::estimateClosely(const Strategy &strategy, std::string &why) {
  const AxisSizes sizes = AxisSizes::of(strategy.mesh);
  const int64_t microbatches = strategy.microbatches.value_or(facts.recipeCount);
  // Of fewer layers what is kept at a time is not yet as of many.
  int64_t few = 8, step = 2, chunks = 1;
  if (sizes.pp > 1) {
    const Mesh &mesh = strategy.mesh;
    chunks = strategy.schedule->chunks;
    step = mesh.axes[size_t(mesh.find(stageAxis))].allShares() * chunks;
    few = step + facts.repeats.rounds % step; // as unevenly cut
  }
  const bool isDeep = facts.repeats.rounds > few + step;
  auto withLayers = [&](int64_t sampled) -> std::optional<Prediction> {
    auto with = [&](ModuleOp layers) {
      return Lowering(layers, options, cluster).predict(strategy, why, sampled);
    };
    if (!isDeep)
      return with(model);
    std::optional<Prediction> first = with(withRounds(few)),
                              second = first ? with(withRounds(few + step)) : first;
    if (!second || !areAlike(*first, *second, why))
      return std::nullopt;
    return extended(*first, *second, double(facts.repeats.rounds - few) / double(step));
  };
  // Stages have begun as many as they ever do by then, of every schedule but GPipe's, whose memory
  // grows evenly.
  const int64_t fewSampled = 2 * sizes.pp * chunks, stepSampled = sizes.pp;
  std::optional<Prediction> all;
  if (sizes.pp == 1 || microbatches <= fewSampled + stepSampled) {
    all = withLayers(0);
  } else if (std::optional<Prediction> first = withLayers(fewSampled)) {
    std::optional<Prediction> second = withLayers(fewSampled + stepSampled);
    if (second && areAlike(*first, *second, why))
      all = extended(*first, *second, double(microbatches - fewSampled) / double(stepSampled));
  }
  if (all)
    all->sumUpMemory(cluster);
  return all;
}

} // namespace weir::planner
