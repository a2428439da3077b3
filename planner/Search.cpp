//===- Search.cpp - The fastest strategies for a model on a cluster -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Search.h"
#include "planner/Prices.h"
#include "planner/Shares.h"
#include "strategy/Fields.h"
#include "support/Text.h"
#include <set>

using namespace mlir;

namespace weir::planner {
namespace {

/// With more possible numbers of microbatches than these, the search tries those near powers of
/// two.
constexpr size_t mostCounts = 10;

/// Up to so many devices, the search tries every mesh.
constexpr int64_t few = 16;

class Search {
public:
  Search(ModuleOp model, const PipelineOptions &options, const Cluster &cluster, Facts &facts,
         const Allowed &allowed)
      : model(model), options(options), cluster(cluster), facts(facts), allowed(allowed),
        asked(options.strategy), others(strategy::withoutPlan(asked)),
        estimator(model, options, cluster, facts) {}

  SearchResult run() {
    findBound();
    if (!allowed.given.empty()) {
      predictGiven();
      return std::move(result);
    }
    for (const AxisSizes &sizes : meshes())
      estimateAll(sizes);
    widen();
    refine();
    lowerBest();
    result.samples = estimator.samples();
    return std::move(result);
  }

private:
  bool allows(std::string_view axis) const { return llvm::is_contained(allowed.axes, axis); }

  /// Whether an axis can be used at all; tried once, with two ranks.
  bool serves(std::string_view axis) {
    if (!allows(axis))
      return false;
    auto [found, isNew] = usable.try_emplace(std::string(axis), true);
    if (!isNew)
      return found->second;
    std::string why;
    AxisSizes two;
    (axis == expertAxis ? two.ep : axis == contextAxis ? two.cp : two.tp) = 2;
    // For a deep model, one layer shows it.
    OwningOpRef<ModuleOp> step = shrunk(model, facts.repeats, 1);
    PipelineOptions rest = options;
    rest.strategy = others;
    Lowering lowering(*step, rest, cluster);
    if (!lowering.takesMesh(two.mesh(), why)) {
      result.reasons[std::string(axis)] = why;
      found->second = false;
    }
    return found->second;
  }

  /// Meshes of pp, dp and tp, with every ep and cp if there are few devices.
  std::vector<AxisSizes> meshes() {
    if (asked.hasMesh())
      return {AxisSizes::of(asked.mesh)};
    std::vector<AxisSizes> all;
    int64_t devices = cluster.devices();
    constexpr int64_t mostToLeaveOut = 64;
    std::vector<int64_t> counts =
        allowed.fewer && devices <= mostToLeaveOut ? divisorsOf(devices) : std::vector{devices};
    auto sizesOf = [&](std::string_view axis, int64_t of, int64_t most) {
      std::vector<int64_t> sizes = {1};
      if (of > 1 && (axis == dataAxis || axis == stageAxis ? allows(axis) : serves(axis)))
        for (int64_t size : divisorsOf(of))
          if (size > 1 && size <= most)
            sizes.push_back(size);
      return sizes;
    };
    // The axis with the most communication stays on the fastest links.
    int64_t inner = cluster.levels.size() > 1 ? 2 * cluster.levels.front().devices : devices;
    int64_t most = devices <= few ? devices : 1; // of cp and ep
    int64_t layers = facts.repeats.rounds > 1 ? facts.repeats.rounds : devices;
    for (int64_t count : counts)
      for (int64_t tp : sizesOf(tensorAxis, count, inner))
        for (int64_t cp : sizesOf(contextAxis, count / tp, most))
          for (int64_t ep : sizesOf(expertAxis, count / tp / cp, most))
            for (int64_t pp : sizesOf(stageAxis, count / tp / cp / ep, layers)) {
              int64_t dp = count / tp / cp / ep / pp;
              if (dp == 1 || allows(dataAxis))
                all.push_back({pp, dp, ep, cp, tp});
            }
    return all;
  }

  /// With many devices: the best meshes again, with a part of dp as cp or ep, as long as that
  /// helps.
  void widen() {
    if (asked.hasMesh())
      return;
    constexpr size_t mostMeshes = 6;
    constexpr int mostRounds = 6;
    std::set<std::string> seen;
    for (const Planned &plan : all)
      seen.insert(plan.strategy.mesh.text());
    for (int round = 0; round < mostRounds; ++round) {
      sort();
      std::vector<AxisSizes> next;
      std::set<std::string> best;
      for (const Planned &plan : all) {
        if (best.size() == mostMeshes)
          break;
        AxisSizes sizes = AxisSizes::of(plan.strategy.mesh);
        if (!mayFit(plan) || !best.insert(sizes.mesh().text()).second)
          continue;
        for (std::string_view axis : {contextAxis, expertAxis}) {
          AxisSizes wider = sizes;
          (axis == contextAxis ? wider.cp : wider.ep) *= 2;
          wider.dp /= 2;
          if (sizes.dp % 2 == 0 && serves(axis) && seen.insert(wider.mesh().text()).second)
            next.push_back(wider);
        }
      }
      if (next.empty())
        return;
      for (const AxisSizes &sizes : next)
        estimateAll(sizes);
    }
  }

  /// The best again, with samples of their own rows, and with less recomputation. Then the best of
  /// other meshes: an estimate compares meshes less well than variants of one mesh.
  void refine() {
    constexpr size_t mostRefined = 32, mostWithBlocks = 8, mostOthers = 6;
    sort();
    coarse = std::move(all);
    all.clear();
    rows = Estimator::Rows::met;
    size_t refined = 0, withBlocks = 0, ofOthers = 0;
    std::set<std::string> meshes;
    for (const Planned &plan : coarse) {
      if (!mayFit(plan))
        continue;
      bool isNew = meshes.insert(plan.strategy.mesh.text()).second;
      if (refined++ >= mostRefined && (!isNew || ofOthers++ >= mostOthers))
        continue;
      estimate(plan.strategy);
      if (plan.strategy.recompute.empty() || !asked.recompute.empty() ||
          withBlocks++ >= mostWithBlocks)
        continue;
      for (const std::string &pattern : innerBlocks()) {
        Strategy strategy = plan.strategy;
        strategy.recompute = {pattern};
        estimate(strategy);
      }
    }
    if (all.empty())
      all = coarse;
  }

  void sort() {
    llvm::stable_sort(all, [](const Planned &a, const Planned &b) {
      return a.prediction.seconds < b.prediction.seconds;
    });
  }

  std::vector<int64_t> countsFor(const AxisSizes &sizes) const {
    if (asked.microbatches)
      return {*asked.microbatches};
    std::vector<int64_t> all;
    for (int64_t count : facts.counts)
      if (facts.rows / count >= sizes.dp * sizes.ep)
        all.push_back(count);
    if (all.empty())
      return {facts.counts.front()};
    if (all.size() <= mostCounts)
      return all;
    // Those nearest to powers of two times the fewest.
    std::set<int64_t> some;
    for (double wanted = double(all.front()); wanted <= double(all.back()); wanted *= 2)
      some.insert(*llvm::min_element(all, [&](int64_t a, int64_t b) {
        return std::abs(std::log(double(a) / wanted)) < std::abs(std::log(double(b) / wanted));
      }));
    return {some.begin(), some.end()};
  }

  std::vector<int64_t> zerosFor(const AxisSizes &sizes, int64_t count) const {
    bool shares = sizes.dp * sizes.ep * sizes.cp > 1;
    if (asked.zero.isGiven())
      return shares || *asked.zero == 0 ? std::vector{*asked.zero} : std::vector<int64_t>();
    if (!shares)
      return {0};
    return count > 1 ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 1, 3};
  }

  std::vector<Setting<PipelineSchedule>> schedulesFor(const AxisSizes &sizes) const {
    if (sizes.pp == 1)
      return {Strategy().schedule};
    if (asked.schedule.isGiven())
      return {asked.schedule};
    return {PipelineSchedule{PipelineSchedule::one_f_one_b},
            PipelineSchedule{PipelineSchedule::interleaved, 2},
            PipelineSchedule{PipelineSchedule::zero_bubble}};
  }

  /// Blocks inside the repeated ones.
  std::vector<std::string> innerBlocks() const {
    constexpr size_t most = 8;
    std::vector<std::string> all;
    for (const std::string &pattern : facts.blocks)
      if (auto deeper = llvm::count(pattern, '.') - llvm::count(facts.blocks.front(), '.');
          deeper > 0 && deeper <= 2 && all.size() < most)
        all.push_back(pattern);
    return all;
  }

  /// The choices of recomputation: nothing, or all repeated blocks.
  std::vector<std::vector<std::string>> recomputations() const {
    if (!asked.recompute.empty())
      return {asked.recompute};
    if (facts.marksBlocks || facts.blocks.empty())
      return {{}};
    auto depth = [](const std::string &pattern) { return llvm::count(pattern, '.'); };
    std::vector<std::string> outer;
    llvm::copy_if(facts.blocks, std::back_inserter(outer), [&](const std::string &pattern) {
      return depth(pattern) == depth(facts.blocks.front());
    });
    return {{}, outer};
  }

  /// Whether parameters and optimizer state would fit if they were sharded evenly.
  bool hasRoomFor(const AxisSizes &sizes, int64_t zero) const {
    double cut = double(sizes.pp * sizes.tp), shared = double(sizes.dp * sizes.cp * sizes.ep);
    double bytes = facts.parameters / cut / (zero >= 3 ? shared : double(sizes.ep)) +
                   facts.optimizer / cut / (zero >= 1 ? shared : double(sizes.ep));
    return bytes <= double(mostMemory());
  }

  int64_t mostMemory() const {
    int64_t most = 0;
    for (const DeviceGroup &group : cluster.groups)
      most = std::max(most, group.device.memory);
    return most;
  }

  void estimateAll(const AxisSizes &sizes) {
    if (asked.hasMesh())
      return estimateAll(sizes, asked.mesh);
    for (const Mesh &mesh : meshesWithShares(sizes.mesh(), cluster, nameOf(*asked.precision)))
      estimateAll(sizes, mesh);
  }

  void estimateAll(const AxisSizes &sizes, const Mesh &mesh) {
    if (*asked.zero > 0 && zerosFor(sizes, 1).empty())
      result.reasons.try_emplace(
          optionOf(mesh), concat("--zero ", *asked.zero,
                                 " shards over dp, ep and cp: expected a mesh with one of them"));
    Strategy strategy = others;
    strategy.mesh = mesh;
    if (strategy.hasMesh()) {
      strategy.link = linkOf(sizes);
      strategy.rates = ratesToPlanFor(cluster, mesh, *asked.precision);
    }
    for (int64_t count : countsFor(sizes))
      for (int64_t zero : zerosFor(sizes, count))
        if (sizes.ranks() <= few || hasRoomFor(sizes, zero))
          for (const auto &schedule : schedulesFor(sizes))
            for (bool along : {true, false}) {
              const bool isGiven = asked.sequenceParallel.isGiven();
              if (isGiven ? along != *asked.sequenceParallel
                          : !along && (sizes.tp == 1 || sizes.ranks() > 64))
                continue;
              // A plan omits defaults.
              Strategy one = strategy;
              if (zero)
                one.zero = zero;
              if (count != facts.recipeCount)
                one.microbatches = count;
              one.schedule = schedule;
              if (!along && sizes.tp > 1)
                one.sequenceParallel = false;
              estimateWithMemory(one);
            }
  }

  static std::string optionOf(const Mesh &mesh) {
    return mesh.axes.empty() ? "one device" : "--mesh " + mesh.text();
  }

  /// The link for which collectives are ordered: that of the outermost axis over which gradients
  /// are reduced.
  Setting<Link> linkOf(const AxisSizes &sizes) const {
    int64_t span = sizes.ranks() / sizes.pp;
    for (const LinkLevel &level : cluster.levels)
      if (span <= level.devices) {
        const Link link{level.bandwidth, level.latency};
        return Link::parse(link.text()).value_or(link); // as a file states it
      }
    return Strategy().link;
  }

  /// With the least recomputation or offload that lets it fit.
  void estimateWithMemory(Strategy strategy) {
    std::vector<std::vector<std::string>> all = recomputations();
    strategy.recompute = all.front();
    std::optional<Prediction> plain = estimate(strategy);
    if (!plain || plain->fits)
      return;
    bool any = false;
    for (const std::vector<std::string> &patterns : llvm::drop_begin(all)) {
      strategy.recompute = patterns;
      std::optional<Prediction> again = estimate(strategy);
      any |= again && again->fits;
    }
    if (any || sizesOf(strategy).pp > 1)
      return;
    strategy.recompute = all.back();
    for (OffloadedVariables what :
         {OffloadedVariables::optimizer, OffloadedVariables::parameters}) {
      strategy.offload = Offload{what};
      estimate(strategy);
    }
  }

  /// Reports progress: `done` was estimated or lowered.
  void tell(const Planned &done) {
    // Lowered plans are exact: estimates do not compete with them.
    auto key = [](const Planned &plan) {
      return std::pair(!plan.prediction.isLowered, plan.prediction.seconds);
    };
    if (done.prediction.fits && (!fastest || key(done) < key(*fastest)))
      fastest = done;
    if (allowed.tell)
      allowed.tell({result.examined, result.lowered, fastest ? &*fastest : nullptr});
  }

  static AxisSizes sizesOf(const Strategy &strategy) { return AxisSizes::of(strategy.mesh); }

  std::optional<Prediction> estimate(const Strategy &strategy) {
    std::string why;
    std::optional<Prediction> prediction = estimator.estimate(strategy, rows, why);
    ++result.examined;
    if (!prediction) {
      result.reasons.try_emplace(optionOf(strategy.mesh), why);
      return std::nullopt;
    }
    all.push_back({strategy, *prediction});
    tell(all.back());
    return prediction;
  }

  void predictGiven() {
    Lowering lowering(model, options, cluster);
    for (size_t number = 0; number < allowed.given.size(); ++number) {
      const Strategy &strategy = allowed.given[number];
      bool lowers = int64_t(number) < allowed.lowered;
      std::string why;
      std::optional<Prediction> prediction =
          lowers ? lowering.predict(strategy, why) : estimator.estimateClosely(strategy, why);
      if (!prediction) {
        result.unpredicted.emplace_back(int64_t(number), why);
        continue;
      }
      ++(prediction->isLowered ? result.lowered : result.examined);
      result.best.push_back({strategy, *prediction, int64_t(number)});
      tell(result.best.back());
    }
    sortBest();
  }

  /// A step's operations at the best rate of the devices.
  void findBound() {
    double rate = 0;
    for (const DeviceGroup &group : cluster.groups) {
      rate += double(group.count) * group.device.rateOf(nameOf(*asked.precision));
    }
    result.bound = facts.flops / rate;
  }

  /// The possible error of an estimate's memory.
  static constexpr double slack = 1.15;

  bool mayFit(const Planned &plan) const {
    return double(plan.prediction.memory.device()) <= slack * double(mostMemory());
  }

  void lowerBest() {
    sort();
    // At first, not too many variants of one mesh: an estimate compares meshes less well than
    // variants of one mesh.
    constexpr int64_t mostOfMesh = 3;
    std::map<std::string, int64_t> ofMesh;
    std::vector<const Planned *> first, then;
    for (const Planned &plan : all)
      if (mayFit(plan))
        (ofMesh[plan.strategy.mesh.text()]++ < mostOfMesh ? first : then).push_back(&plan);
    llvm::append_range(first, then);
    Lowering lowering(model, options, cluster);
    for (const Planned *plan : first) {
      // A plan that does not fit after all does not count, for a while.
      constexpr int64_t patience = 4;
      if (result.lowered >= allowed.lowered * (result.best.empty() ? patience : 1))
        break;
      std::string why;
      std::optional<Prediction> exact = lowering.predict(plan->strategy, why);
      ++result.lowered;
      if (!exact) {
        result.reasons.try_emplace("--mesh " + plan->strategy.mesh.text(), why);
        continue;
      }
      const Planned lowered{plan->strategy, *exact};
      if (exact->fits)
        result.best.push_back(lowered);
      tell(lowered);
    }
    if (allowed.lowered == 0)
      for (const Planned *plan : first)
        if (plan->prediction.fits)
          result.best.push_back(*plan);
    if (result.best.empty())
      lowerSmallest();
    sortBest();
  }

  /// If none of the fastest fits after all: those with the least estimated memory.
  void lowerSmallest() {
    std::vector<Planned> smallest = coarse;
    llvm::append_range(smallest, all);
    llvm::stable_sort(smallest, [](const Planned &a, const Planned &b) {
      return a.prediction.memory.device() < b.prediction.memory.device();
    });
    if (!smallest.empty())
      result.smallest = smallest.front();
    Lowering lowering(model, options, cluster);
    for (Planned &plan : llvm::MutableArrayRef(smallest).take_front(size_t(allowed.lowered))) {
      std::string why;
      std::optional<Prediction> exact = lowering.predict(plan.strategy, why);
      ++result.lowered;
      if (!exact)
        continue;
      plan.prediction = *exact;
      tell(plan);
      if (exact->fits)
        result.best.push_back(plan);
      else if (!result.smallest->prediction.isLowered ||
               exact->memory.device() < result.smallest->prediction.memory.device())
        result.smallest = plan;
    }
  }

  void sortBest() {
    llvm::stable_sort(result.best, [](const Planned &a, const Planned &b) {
      return a.prediction.seconds < b.prediction.seconds;
    });
  }

  ModuleOp model;
  const PipelineOptions &options;
  const Cluster &cluster;
  Facts &facts;
  const Allowed &allowed;
  const Strategy &asked; ///< fields that are set are not searched for
  const Strategy others; ///< `asked` without the fields that are searched for
  Estimator estimator;
  Estimator::Rows rows = Estimator::Rows::between;
  SearchResult result;
  std::optional<Planned> fastest; ///< so far, of those that fit
  std::map<std::string, bool> usable;
  std::vector<Planned> all, coarse; ///< `coarse`: before samples of their own
};

} // namespace

SearchResult search(ModuleOp model, const PipelineOptions &options, const Cluster &cluster,
                    Facts &facts, const Allowed &allowed) {
  return Search(model, options, cluster, facts, allowed).run();
}

} // namespace weir::planner
