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
#include "runtime/base/Layout.h"
#include "runtime/base/Text.h"
#include "strategy/Fields.h"

using namespace mlir;

namespace weir::planner {

AxisSizes AxisSizes::of(const Mesh &mesh) {
  AxisSizes sizes;
  for (const Mesh::Axis &axis : mesh.axes) {
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

const Estimator::Sample &Estimator::sample(const Strategy &strategy, const AxisSizes &sizes,
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

void Estimator::lower(const Strategy &strategy, Sample &sample) {
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
Estimator::Sample Estimator::withRows(Sample sample, double rows) const {
  const double part = rows / sample.rows;
  for (double Sample::*figure :
       {&Sample::body, &Sample::computing, &Sample::recomputing, &Sample::communicating})
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

Estimator::Sample Estimator::sampleOf(const Strategy &strategy, const AxisSizes &sizes,
                                      double rowsOfRank, Rows rows) {
  const Sample &few = sample(strategy, sizes, countWithRows(facts, 1, sizes.ep));
  if (!few.why.empty())
    return sample(strategy, sizes, countWithRows(facts, rowsOfRank, sizes.ep));
  // As few as may be, and some more; what is too large cannot be compiled.
  const Sample *others = &sample(strategy, sizes, countWithRows(facts, 4 * few.rows, sizes.ep));
  if (!others->why.empty())
    others = &sample(strategy, sizes, countWithRows(facts, 2 * few.rows, sizes.ep));
  if (!others->why.empty())
    return rowsOfRank > few.rows ? *others : few;
  const Sample &more = *others;
  if (more.rows == few.rows)
    return withRows(few, rowsOfRank);
  // What is the same for any number of rows is of parameters.
  auto slope = [&](double a, double b) { return std::max(0.0, (b - a) / (more.rows - few.rows)); };
  auto at = [&](double a, double b) {
    return std::max(a / 4, a + (rowsOfRank - few.rows) * slope(a, b));
  };
  Sample result = few;
  if (rows == Rows::met) {
    const Sample &met = sample(strategy, sizes, countWithRows(facts, rowsOfRank, sizes.ep));
    if (!met.why.empty())
      return met;
    result = met;
  } else {
    for (double Sample::*figure :
         {&Sample::body, &Sample::computing, &Sample::recomputing, &Sample::communicating})
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
  const AxisSizes sizes = AxisSizes::of(strategy.mesh);
  const int64_t count = strategy.microbatches.value_or(facts.recipeCount);
  const Mesh &mesh = strategy.mesh;
  Piece rowsOfAll{facts.rows / count};
  for (std::string_view axis : {dataAxis, expertAxis})
    if (int number = mesh.find(axis); number >= 0)
      rowsOfAll.axes.push_back(unsigned(number));
  if (!rowsOfAll.hasPlaceForAll(mesh)) {
    why = concat("a microbatch has ", facts.rows / count, " rows, too few for ",
                 sizes.dp * sizes.ep, " ranks: expected at least one row per rank");
    return std::nullopt;
  }
  // Of the rank that has most.
  double rowsOfRank = double(facts.rows) / double(count) / double(sizes.dp * sizes.ep);
  if (int data = mesh.find(dataAxis); data >= 0) {
    const Mesh::Axis &axis = mesh.axes[size_t(data)];
    rowsOfRank *= axis.shareAt(axis.fullest());
  }
  const Sample sample = sampleOf(strategy, sizes, std::ceil(rowsOfRank), rows);
  if (!sample.why.empty()) {
    why = sample.why;
    return std::nullopt;
  }
  const double m = double(count), dp = double(sizes.dp), pp = double(sizes.pp);
  const double parameters = double(sample.memory.parameters);
  double gradients = // f32
      parameters * facts.trained * (*strategy.paramType == Element::bf16 ? 2 : 1);
  auto overlapsOver = [&](std::string_view axis) {
    return *strategy.overlap && overlaps(cluster, membersOf(mesh, unsigned(mesh.find(axis))));
  };
  const std::vector<double> slowness = slownessOfStages(mesh, cluster, nameOf(*strategy.precision));
  // Of a microbatch's work, and of the time that it takes on the first devices: of the stage that
  // has most, and of all on average.
  double share = 1, pace = slowness[0], meanPace = pace, ofParameters = 1, chunks = 1;
  Prediction prediction;
  prediction.computing = m * sample.computing * pace;
  prediction.recomputing = m * sample.recomputing * pace;
  double passing = m * sample.body * pace;
  if (sizes.pp > 1) {
    const stages::Schedule schedule = stages::scheduleOf(*strategy.schedule);
    const stages::Pipe pipe{sizes.pp, schedule.chunks, count};
    chunks = double(pipe.chunks);
    if (why = schedule.check(pipe); !why.empty())
      return std::nullopt;
    const Mesh::Axis &pipeline = mesh.axes[size_t(mesh.find(stageAxis))];
    const auto &stages = facts.stages(pipeline, pipe.chunks, &why);
    if (!stages)
      return std::nullopt;
    share = pace = meanPace = ofParameters = 0;
    for (int64_t rank = 0; rank < sizes.pp; ++rank) {
      double work = 0, held = 0;
      for (int64_t chunk = 0; chunk < pipe.chunks; ++chunk) {
        work += (*stages)[size_t(chunk * sizes.pp + rank)].work;
        held += (*stages)[size_t(chunk * sizes.pp + rank)].parameters;
      }
      share = std::max(share, work);
      pace = std::max(pace, work * slowness[size_t(rank)]);
      meanPace += work * slowness[size_t(rank)] / pp;
      ofParameters = std::max(ofParameters, held);
    }
    double bytes = facts.crossing(pipeline, pipe.chunks) * rowsOfRank / double(sizes.tp * sizes.cp);
    double sending = secondsToSend(cluster, 0, sizes.ranks() / sizes.pp, bytes);
    double waiting = schedule.bubble(pipe) * m * sample.body * meanPace;
    prediction.computing = m * sample.computing * meanPace;
    prediction.recomputing = m * sample.recomputing * meanPace;
    prediction.bubble = waiting + m * sample.computing * (pace - meanPace);
    passing = m * sample.body * pace + waiting;
    // The first and the last microbatch pass all stages, one after the other. Of the others a rank
    // waits for each part that it sends where nothing goes on beside.
    prediction.exposed +=
        2 * chunks * (pp - 1) * sending +
        (overlapsOver(stageAxis) ? std::max(0.0, m * (2 * sending - sample.body * pace))
                                 : m * chunks * 2 * sending);
  }
  prediction.exposed += m * pace * (sample.body - sample.computing);
  // ZeRO is over cp too; of ep it is not known what experts cut already.
  const double shared = dp * double(sizes.cp);
  double updating = sample.outside * ofParameters / (*strategy.zero >= 1 ? shared : 1);
  prediction.computing += updating;
  double exchanging = 0;
  if (sizes.dp > 1) {
    Members who{sizes.dp, sizes.ep * sizes.cp * sizes.tp};
    double moved = (dp - 1) / dp * ofParameters;
    // Of f32: what products multiply, which is what is fetched for them, and gradients that are
    // sent as that; masters may be as narrow.
    const bool isLow = sizeOf(rowOf(*strategy.precision).stored) < sizeOf(Element::f32);
    const double sent = double(sizeOf(*strategy.gradReduceType)) / double(sizeOf(Element::f32)),
                 read = isLow && *strategy.paramType == Element::f32 ? 0.5 : 1;
    double summing = secondsToExchange(cluster, who, moved * gradients * sent),
           gathering = secondsToGather(cluster, who, moved * gradients * sent),
           updated = secondsToGather(cluster, who, moved * parameters),
           fetching = secondsToGather(cluster, who, moved * parameters * read);
    exchanging = *strategy.zero == 0   ? summing + gathering
                 : *strategy.zero <= 2 ? summing + updated
                                       : summing + 2 * m * fetching;
    // What gradients are computed beside, but for the last of them; all microbatches, where each
    // fetches parameters.
    double beside = sizes.pp > 1 || !overlapsOver(dataAxis)
                        ? 0
                        : (*strategy.zero >= 3 ? m : 1.0) * sample.computing * pace * 2 / 3;
    exchanging = std::max(exchanging - beside, exchanging / 8);
  }
  prediction.exposed += exchanging;
  prediction.seconds =
      passing + updating + prediction.exposed - (m * pace * (sample.body - sample.computing));
  RankMemory &memory = prediction.memory = sample.memory;
  auto part = [](int64_t bytes, double of) { return int64_t(double(bytes) * of); };
  memory.parameters = part(memory.parameters, ofParameters / (*strategy.zero >= 3 ? shared : 1));
  memory.optimizer = part(memory.optimizer, ofParameters / (*strategy.zero >= 1 ? shared : 1));
  // Of several stages of a rank the first rank begins as many more, each a part of its layers.
  double ahead = chunks == 1 ? pp : (2 * (pp - 1) + (chunks - 1) * pp + 1) / chunks;
  double inFlight =
      sizes.pp > 1 ? std::min(m, strategy.schedule->kind == PipelineSchedule::gpipe ? m : ahead)
                   : 1;
  double same = std::max(0.0, double(memory.scratch) - sample.kept - sample.passing);
  if (*strategy.zero >= 3 && m == 1) // of several microbatches the sums are whole
    same = std::max(0.0, same - gradients * (1 - 1 / shared));
  memory.scratch = int64_t(same * ofParameters + sample.passing + sample.kept * share * inFlight);
  if (strategy.offload->variables != OffloadedVariables::none) {
    memory.host = memory.optimizer;
    memory.optimizer = 0;
    if (strategy.offload->variables == OffloadedVariables::parameters) {
      memory.host += memory.parameters;
      memory.parameters = 0;
    }
    prediction.exposed += 2 * double(memory.host) / cluster.deviceOf(0).hostBandwidth;
    prediction.seconds += 2 * double(memory.host) / cluster.deviceOf(0).hostBandwidth;
  }
  prediction.fits = cluster.hasRoom(sizes.ranks(), memory.device());
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
