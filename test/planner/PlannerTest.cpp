//===- PlannerTest.cpp - Estimates, searches and what they stand on ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/Digest.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/program/Variable.h"
#include "mlir/IR/Verifier.h"
#include "planner/Prices.h"
#include "planner/Search.h"
#include "planner/Shares.h"
#include "planner/Shrink.h"
#include "planner/machines/DevicePrices.h"
#include "strategy/Fields.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

using namespace weir;
using namespace weir::planner;

namespace {

using Sets = std::map<std::string, std::string>;
using strategy::parsed;

Mesh meshOf(const std::string &text) { return std::get<Mesh>(Mesh::parse(text)); }

/// A shipped model, and some devices.
struct Situation {
  Situation(const std::string &model, Sets sets, Cluster cluster) : cluster(std::move(cluster)) {
    Diagnostics diagnostics;
    module = std::move(
        elaborate(WEIR_MODELS "/" + model + ".weir", sets, sources, context, diagnostics, {})
            .module);
    setDigests(*module);
    options.target = makeTarget(this->cluster.deviceOf(0).target);
    facts.emplace(*module);
  }

  /// What is asked for in `options`, with what a plan says.
  Strategy with(const Strategy &plan) const {
    Strategy strategy = options.strategy;
    strategy::copyGiven(strategy, plan);
    return strategy;
  }

  Prediction lowered(const Strategy &plan) {
    std::string why;
    std::optional<Prediction> prediction =
        Lowering(*module, options, cluster).predict(with(plan), why);
    EXPECT_TRUE(prediction) << strategy::textOf(plan) << ": " << why;
    return prediction.value_or(Prediction());
  }

  Prediction estimated(const Strategy &plan) {
    std::string why;
    std::optional<Prediction> prediction = Estimator(*module, options, cluster, *facts)
                                               .estimate(with(plan), Estimator::Rows::met, why);
    EXPECT_TRUE(prediction) << strategy::textOf(plan) << ": " << why;
    return prediction.value_or(Prediction());
  }

  /// The model as the plan has it compiled, up to a pass group.
  mlir::OwningOpRef<mlir::ModuleOp> behind(llvm::StringRef group, const Strategy &plan) {
    PipelineOptions changed = options;
    changed.strategy = with(plan);
    mlir::OwningOpRef<mlir::ModuleOp> compiled = module->clone();
    EXPECT_TRUE(mlir::succeeded(runPassGroups(*compiled, changed, group)))
        << strategy::textOf(plan);
    return compiled;
  }

  /// `asked` is not searched for.
  SearchResult search(const Allowed &allowed, const std::string &asked = "") {
    PipelineOptions changed = options;
    changed.strategy = with(parsed(asked));
    return planner::search(*module, changed, cluster, *facts, allowed);
  }

  Cluster cluster;
  SourceManager sources;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  PipelineOptions options;
  std::optional<Facts> facts;
};

/// Of a level that multiplies bf16, as the rates of "cpu" are, whichever level this machine has.
Cluster cores(int64_t count, double bandwidth = 5e9, double latency = 20e-6) {
  Cluster cluster = clusterOf("cpu", count, {"memory", count, bandwidth, latency});
  cluster.groups.front().device.target = "cpu:x86-64-v4+bf16";
  return cluster;
}

const Sets deep = {{"layers", "8"}, {"width", "64"}, {"batch", "16"}};

int64_t parametersOf(mlir::ModuleOp module) {
  int64_t bytes = 0;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == Role::parameter)
      bytes += storageBytes(variable.getType());
  return bytes;
}

TEST(Shrink, LeavesFewerLayers) {
  Situation whole("gpt-char", deep, cores(1)),
      small("gpt-char", {{"layers", "3"}, {"width", "64"}, {"batch", "16"}}, cores(1));
  // But for what the first and the last one are beside.
  Repeats repeats = whole.facts->repeats;
  EXPECT_GE(repeats.rounds, 7);
  auto few = shrunk(*whole.module, repeats, repeats.rounds - 5);
  EXPECT_EQ(parametersOf(*few), parametersOf(*small.module));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*few)));
}

TEST(Shrink, KnowsNoLayersWhereNoneAreAlike) {
  Situation mlp("mnist-mlp", {}, cores(1));
  EXPECT_EQ(mlp.facts->repeats.rounds, 1);
  auto same = shrunk(*mlp.module, mlp.facts->repeats, 1);
  EXPECT_EQ(parametersOf(*same), parametersOf(*mlp.module));
}

TEST(Estimate, OfADeepModelIsThatOfAllItsLayers) {
  Situation gpt("gpt-char", deep, cores(2));
  for (const char *mesh : {"", "tp=2", "cp=2"}) {
    Strategy choice{.mesh = meshOf(mesh), .microbatches = 4};
    Prediction exact = gpt.lowered(choice), estimate = gpt.estimated(choice);
    EXPECT_NEAR(estimate.seconds / exact.seconds, 1, 0.03) << mesh;
    EXPECT_NEAR(double(estimate.memory.parameters) / double(exact.memory.parameters), 1, 0.01);
    EXPECT_NEAR(double(estimate.memory.optimizer) / double(exact.memory.optimizer), 1, 0.01);
    EXPECT_NEAR(double(estimate.memory.device()) / double(exact.memory.device()), 1, 0.05) << mesh;
  }
}

TEST(Estimate, OfStagesIsNearWhatTheirPlanTakes) {
  // Each of the most stages has a layer.
  Situation gpt("gpt-char", {{"layers", "12"}, {"width", "64"}, {"batch", "16"}}, cores(4));
  for (const char *schedule : {"1f1b", "interleaved", "interleaved:3", "gpipe"}) {
    Strategy choice = parsed(std::string("mesh=pp=4 microbatches=8 schedule=") + schedule);
    Prediction exact = gpt.lowered(choice), estimate = gpt.estimated(choice);
    EXPECT_NEAR(estimate.seconds / exact.seconds, 1, 0.25) << schedule;
    EXPECT_GT(exact.bubble, 0);
  }
}

TEST(Estimate, OfShallowModelsLoweredWholeIsClose) {
  Situation gpt("gpt-char", {{"layers", "13"}, {"width", "512"}, {"batch", "16"}}, cores(4));
  const char *plans[] = {"mesh=dp=2,tp=2 zero=3 microbatches=1 recompute=h.*",
                         "mesh=dp=4 zero=1 microbatches=2",
                         "mesh=pp=2,dp=2 zero=1 microbatches=4 schedule=1f1b",
                         "mesh=pp=4 microbatches=4 schedule=zero-bubble recompute=h.*",
                         "mesh=pp=2 microbatches=16 schedule=gpipe",
                         "mesh=pp=2,tp=2 microbatches=16 schedule=1f1b",
                         "mesh=pp=2 microbatches=16 schedule=interleaved",
                         "mesh=pp=3:1 microbatches=16 schedule=1f1b"};
  for (const char *const &plan : plans) {
    const Strategy choice = parsed(plan);
    bool isSecond = (&plan - plans) % 2;
    if (isSecond && !std::getenv("WEIR_TEST_ALL"))
      continue;
    std::string why;
    std::optional<Prediction> close =
        Estimator(*gpt.module, gpt.options, gpt.cluster, *gpt.facts).estimateClosely(choice, why);
    ASSERT_TRUE(close) << why;
    EXPECT_FALSE(close->isLowered);
    Prediction exact = gpt.lowered(choice);
    EXPECT_NEAR(double(close->memory.device()) / double(exact.memory.device()), 1, 0.03)
        << strategy::textOf(choice);
    EXPECT_NEAR(close->seconds / exact.seconds, 1, 0.02) << strategy::textOf(choice);
  }
}

/// Gradients of the others are not exchanged.
TEST(Facts, KnowWhatAStepChanges) {
  EXPECT_EQ(Situation("gpt-char", deep, cores(2)).facts->trained, 1);
  double ofLora = Situation("lora", {}, cores(2)).facts->trained;
  EXPECT_GT(ofLora, 0);
  EXPECT_LT(ofLora, 0.5);
}

/// A rank that does nothing beside waits for what it sends, in estimates and in plans.
TEST(Estimate, WithoutOverlapSendsAreWaitedFor) {
  Situation gpt("gpt-char", deep, cores(4, 1e8));
  const Strategy choice = parsed("mesh=pp=4 microbatches=8");
  Prediction beside = gpt.lowered(choice), estimatedBeside = gpt.estimated(choice);
  gpt.options.strategy.overlap = false;
  EXPECT_GT(gpt.lowered(choice).seconds, beside.seconds);
  EXPECT_GT(gpt.estimated(choice).seconds, estimatedBeside.seconds);
}

/// Half the bytes of gradients cross, in estimates and in plans.
TEST(Estimate, GradientsInBf16AreSentSooner) {
  Situation gpt("gpt-char", deep, cores(4, 1e8));
  gpt.options.strategy.precision = Precision::bf16;
  for (const Strategy &choice : {parsed("mesh=dp=4"), parsed("mesh=dp=4 zero=1")}) {
    gpt.options.strategy.gradReduceType = Element::f32;
    double lowered = gpt.lowered(choice).exposed, estimated = gpt.estimated(choice).exposed;
    gpt.options.strategy.gradReduceType = Element::bf16;
    double share = *choice.zero == 0 ? 0.5 : 0.75; // parameters are gathered in f32
    EXPECT_NEAR(gpt.lowered(choice).exposed / lowered, share, 0.1) << *choice.zero;
    EXPECT_NEAR(gpt.estimated(choice).exposed / estimated, share, 0.1) << *choice.zero;
  }
}

/// What goes on from one microbatch to the next is of the recipe's: they are no other number.
TEST(Search, TakesAModelWithState) {
  Situation cnn("mnist-cnn", {{"batch", "8"}}, cores(2));
  EXPECT_EQ(cnn.facts->counts, std::vector<int64_t>{1});
  EXPECT_FALSE(cnn.search({.axes = {"dp"}, .lowered = 2}).best.empty());
}

/// Two cores, of which one takes so many times as long for everything.
Cluster unequalCores(int slow, double times) {
  Cluster cluster = cores(1);
  cluster.groups.push_back(cluster.groups.front());
  cluster.levels.front().devices = 2;
  Device &device = cluster.groups[size_t(slow)].device;
  device.bandwidth /= times, device.launch *= times;
  device.elementwise /= times, device.attention /= times, device.convolution /= times;
  for (auto &[name, rate] : device.products.rate)
    rate /= times;
  return cluster;
}

/// The slowest device of a stage is waited for, whichever rank it is of.
TEST(Lowering, WaitsForTheSlowestDevice) {
  const Strategy choice = parsed("mesh=dp=2");
  double alike = Situation("gpt-char", deep, cores(2)).lowered(choice).computing;
  for (int slow : {0, 1}) {
    Prediction unequal = Situation("gpt-char", deep, unequalCores(slow, 10)).lowered(choice);
    EXPECT_NEAR(unequal.computing / alike, 10, 0.5) << slow;
  }
}

/// A core three times as fast as the other gets three times the rows, or the layers.
TEST(Search, SharesRowsAndLayersByTheSpeedOfDevices) {
  for (int slow : {0, 1}) {
    Situation gpt("gpt-char", deep, unequalCores(slow, 3));
    for (const char *axis : {"dp", "pp"}) {
      std::string shares = std::string(axis) + (slow ? "=3:1" : "=1:3"),
                  equal = std::string(axis) + "=2";
      SearchResult found =
          gpt.search({.axes = {axis}, .fewer = false, .lowered = 4}, "microbatches=4");
      ASSERT_FALSE(found.best.empty());
      const Planned &best = found.best.front();
      EXPECT_EQ(best.strategy.mesh.text(), shares);
      Strategy plain = best.strategy;
      plain.mesh = meshOf(equal);
      EXPECT_LT(best.prediction.seconds, 0.75 * gpt.lowered(plain).seconds) << axis;
      std::string why;
      std::optional<Prediction> estimate =
          Estimator(*gpt.module, gpt.options, gpt.cluster, *gpt.facts)
              .estimate(best.strategy, Estimator::Rows::met, why);
      ASSERT_TRUE(estimate) << why;
      EXPECT_NEAR(estimate->seconds / best.prediction.seconds, 1, 0.25) << axis;
    }
  }
}

TEST(Shares, OfEqualDevicesThereAreNone) {
  auto meshesOf = [](const char *mesh, const Cluster &cluster) {
    std::vector<std::string> texts;
    for (const Mesh &one : meshesWithShares(meshOf(mesh), cluster, "f32"))
      texts.push_back(one.text());
    return texts;
  };
  EXPECT_EQ(meshesOf("pp=2,dp=2", cores(4)), std::vector<std::string>{"pp=2,dp=2"});
  // What is as far along an axis is as fast as its slowest: here both ranks of dp have a slow one.
  Cluster cluster = unequalCores(1, 2);
  for (DeviceGroup &group : cluster.groups)
    group.count = 2;
  cluster.levels.front().devices = 4;
  EXPECT_EQ(meshesOf("pp=2,dp=2", cluster), (std::vector<std::string>{"pp=2,dp=2", "pp=2:1,dp=2"}));
  EXPECT_EQ(meshesOf("dp=4", cluster), (std::vector<std::string>{"dp=4", "dp=2:2:1:1"}));
  EXPECT_EQ(meshesOf("tp=4", cluster), std::vector<std::string>{"tp=4"});
}

/// Four units, each of which has a tile of 8 x 4 at a time: waves of four.
TEST(Prices, OfProductsAreWavesOfTiles) {
  Device device{.bandwidth = 1e30};
  device.products = {{{"f32", 1000}}, 4, 8, 4, 0};
  auto seconds = [&](int64_t m, int64_t n, int64_t k) {
    spec::Product product;
    product.m = m, product.n = n, product.k = k;
    return secondsOf(device, product);
  };
  double wave = 2.0 * 8 * 4 * 10 / (1000.0 / 4);
  EXPECT_DOUBLE_EQ(seconds(16, 8, 10), wave);
  EXPECT_DOUBLE_EQ(seconds(32, 8, 10), 2 * wave);
  EXPECT_LT(seconds(4, 4, 10), wave); // of smaller tiles
  device.products.ramp = 10;
  EXPECT_DOUBLE_EQ(seconds(16, 8, 10), 2 * wave);
  device.bandwidth = 1;
  EXPECT_DOUBLE_EQ(seconds(16, 8, 10), 4 * (16 * 10 + 8 * 10 + 16 * 8));
}

TEST(Lowering, SaysWhyAPlanCannotBe) {
  Situation mlp("mnist-mlp", {}, cores(2));
  std::string why;
  EXPECT_FALSE(Lowering(*mlp.module, mlp.options, mlp.cluster).predict(parsed("mesh=cp=2"), why));
  EXPECT_NE(why.find("attention"), std::string::npos) << why;
  why.clear();
  EXPECT_FALSE(
      Lowering(*mlp.module, mlp.options, mlp.cluster).predict(parsed("recompute=h.*"), why));
  EXPECT_NE(why.find("no block of the model matches \"h.*\""), std::string::npos) << why;
}

/// Of a small model whose batch is huge a row more or less is nothing, and one row alone is another
/// program: what it saves is not saved for each of the others.
TEST(Search, OfManyRowsFindsWhatRowsAloneFind) {
  Situation mlp("mnist-mlp", {{"batch", "32768"}},
                clusterOf("a100-80", 8, {"node", 8, 200e9, 3e-6}));
  double all = mlp.search({.lowered = 8}).best.front().prediction.seconds,
         rows = mlp.search({.axes = {"dp"}, .lowered = 8}).best.front().prediction.seconds;
  EXPECT_LE(all, 1.1 * rows);
}

TEST(Search, GivesTheSameAnswerTwice) {
  std::vector<std::string> answers[2];
  for (auto &answer : answers) {
    Situation gpt("gpt-char", {{"layers", "6"}, {"width", "64"}, {"batch", "8"}}, cores(2));
    for (const Planned &plan : gpt.search({.axes = {"dp", "tp"}, .lowered = 2}).best)
      answer.push_back(strategy::planText(plan.strategy));
  }
  EXPECT_FALSE(answers[0].empty());
  EXPECT_EQ(answers[0], answers[1]);
}

TEST(Search, ReportsItsProgress) {
  Situation gpt("gpt-char", deep, cores(4));
  int64_t plans = 0;
  std::string fastest;
  auto tell = [&](const SearchProgress &now) {
    EXPECT_GE(now.estimated + now.lowered, plans);
    plans = now.estimated + now.lowered;
    if (now.fastest)
      fastest = strategy::planText(now.fastest->strategy);
  };
  SearchResult result =
      gpt.search({.axes = {"dp", "tp"}, .lowered = 2, .tell = tell}, "zero=1 microbatches=2");
  ASSERT_FALSE(result.best.empty());
  EXPECT_EQ(plans, result.examined + result.lowered);
  EXPECT_EQ(fastest, strategy::planText(result.best.front().strategy));
}

TEST(Search, KeepsWhatIsAskedFor) {
  Situation gpt("gpt-char", deep, cores(4));
  SearchResult result = gpt.search({.axes = {"dp", "tp"}, .lowered = 2}, "zero=1 microbatches=2");
  ASSERT_FALSE(result.best.empty());
  for (const Planned &plan : result.best) {
    AxisSizes sizes = AxisSizes::of(plan.strategy.mesh);
    EXPECT_EQ(sizes.pp * sizes.cp * sizes.ep, 1) << strategy::planText(plan.strategy);
    EXPECT_EQ(*plan.strategy.zero, 1);
    EXPECT_EQ(plan.strategy.microbatches, 2);
    EXPECT_TRUE(plan.prediction.isLowered);
  }
}

/// ZeRO 3 is what is left where memory is short; with fast links it is taken.
TEST(Search, CutsParametersWhereMemoryIsShort) {
  Sets wide = {{"layers", "4"}, {"width", "256"}, {"heads", "4"}, {"batch", "8"}};
  auto zeroWith = [&](int64_t memory, double bandwidth) -> int64_t {
    Cluster cluster = cores(8, bandwidth, 1e-6);
    cluster.groups[0].device.memory = memory;
    Situation gpt("gpt-char", wide, cluster);
    SearchResult result = gpt.search({.axes = {"dp"}, .fewer = false, .lowered = 8});
    return result.best.empty() ? -1 : *result.best.front().strategy.zero;
  };
  EXPECT_EQ(zeroWith(28'000'000, 100e9), 3);
  EXPECT_LT(zeroWith(1'000'000'000, 1e9), 3);
}

/// How a parameter lies; "" where it is whole.
std::string layoutOf(mlir::ModuleOp module, llvm::StringRef name) {
  auto sharding = module.lookupSymbol(name)->getAttrOfType<ShardingAttr>(shardingAttrName);
  return sharding ? sharding.getValue().text() : "";
}

/// The elements that members along tp have of each other behind each collective, by its kind.
std::multiset<std::pair<std::string, int64_t>> collectives(mlir::ModuleOp module) {
  std::multiset<std::pair<std::string, int64_t>> all;
  module.lookupSymbol("step")->walk([&](mlir::Operation *op) {
    if (mlir::isa<AllGatherOp, AllToAllOp>(op))
      all.insert(
          {op->getName().stripDialect().str(), tensorType(op->getResult(0)).getNumElements()});
  });
  return all;
}

/// Shoeybi et al., "Megatron-LM", 2019: columns, then rows, whole heads, and each layer adds up
/// four times: behind its two parts, forward and backward.
TEST(Search, CutsLayersAsMegatronDoes) {
  Sets sets = {
      {"layers", "3"}, {"width", "1024"}, {"heads", "16"}, {"context", "256"}, {"batch", "8"}};
  auto linked = [](double bandwidth) {
    return clusterOf("a100-80", 4, {"links", 4, bandwidth, 3e-6});
  };
  const Allowed tensors{.axes = {"tp"}, .lowered = 2};
  const std::string once = "microbatches=1";
  Situation fast("gpt-char", sets, linked(235e9));
  SearchResult result = fast.search(tensors, once);
  ASSERT_FALSE(result.best.empty());
  Strategy choice = result.best.front().strategy;
  EXPECT_EQ(choice.mesh.text(), "tp=4");
  for (bool along : {true, false}) {
    choice.sequenceParallel = along;
    auto cut = fast.behind("layouts", choice);
    for (std::string layer : {"h.0.", "h.1.", "h.2."}) {
      EXPECT_EQ(layoutOf(*cut, layer + "attn.c_attn.weight"), "3*16@tp*64 1024");
      EXPECT_EQ(layoutOf(*cut, layer + "attn.c_proj.weight"), "1024 16@tp*64");
      EXPECT_EQ(layoutOf(*cut, layer + "mlp.c_fc.weight"), "4096@tp 1024");
      EXPECT_EQ(layoutOf(*cut, layer + "mlp.c_proj.weight"), "1024 4096@tp");
    }
  }
  // What one more layer exchanges are sums of its activations, no weights.
  auto three = collectives(*fast.behind("simplify", choice));
  sets["layers"] = "2";
  auto two = collectives(*Situation("gpt-char", sets, fast.cluster).behind("simplify", choice));
  const int64_t activations = 8 * 256 * 1024;
  for (const char *kind : {"all_to_all", "all_gather"})
    EXPECT_EQ(three.count({kind, activations}) - two.count({kind, activations}), 4u) << kind;
  EXPECT_EQ(three.size() - two.size(), 8u);

  // Links that take longer than what they save leave all whole.
  sets["layers"] = "3";
  SearchResult slow = Situation("gpt-char", sets, linked(1e9)).search(tensors, once);
  ASSERT_FALSE(slow.best.empty());
  EXPECT_EQ(slow.best.front().strategy.mesh.text(), "");
}

/// Within one mesh, too: where links are faster than memory, what is touched least is best.
TEST(Lowering, WeighsLayoutsByTheClustersLinks) {
  auto layoutWith = [](double link) {
    Situation gpt("gpt-char", {{"layers", "2"}, {"width", "64"}, {"batch", "12"}},
                  cores(2, link, 0));
    SearchResult result = gpt.search({.lowered = 1}, "mesh=tp=2 microbatches=1");
    EXPECT_FALSE(result.best.empty());
    return layoutOf(*gpt.behind("layouts", result.best.front().strategy), "h.0.attn.c_attn.weight");
  };
  EXPECT_EQ(layoutWith(5e9), "3*4@tp*16 64");
  EXPECT_EQ(layoutWith(10e12), "192 64@tp");
}

/// Of a mesh over two nodes of two: the axis that is inside, and the one that is between.
TEST(Prices, OfAMeshsAxesAreThoseOfItsLinks) {
  Cluster cluster = cores(4);
  cluster.levels = {{"node", 2, 100e9, 1e-6}, {"network", 4, 10e9, 5e-6}};
  cluster.groups[0].count = 3;
  cluster.groups.push_back(cluster.groups.front());
  cluster.groups[1].count = 1;
  Device &slow = cluster.groups[1].device;
  slow.bandwidth = 1e9, slow.launch = 2e-6, slow.products.rate["f32"] = 7e9;
  auto ratesOf = [&](const char *mesh) { return ratesOn(cluster, meshOf(mesh), "f32"); };
  MeshRates rates = ratesOf("pp=1,dp=2,tp=2");
  EXPECT_EQ(rates.rank.flopsPerSecond, 7e9);
  EXPECT_EQ(rates.rank.bytesPerSecond, 1e9);
  EXPECT_NEAR(rates.along("tp").gather / 100e9, 1, 1e-6);
  EXPECT_NEAR(rates.along("tp").latency / 3e-6, 1, 1e-6);
  EXPECT_NEAR(rates.along("dp").exchange / 10e9, 1, 1e-6);
  EXPECT_NEAR(rates.along("dp").latency / 7e-6, 1, 1e-6);
  // To the next stage.
  EXPECT_NEAR(ratesOf("pp=2,tp=2").along("pp").gather / 10e9, 1, 1e-6);
  // Around a ring each node has two links; of what is exchanged two thirds are of the other node.
  rates = ratesOf("tp=4");
  EXPECT_NEAR(rates.along("tp").gather / 20e9, 1, 1e-6);
  EXPECT_NEAR(rates.along("tp").exchange / 15e9, 1, 1e-6);
  // Without the slow one.
  EXPECT_EQ(ratesOf("tp=2").rank.bytesPerSecond, cluster.groups[0].device.bandwidth);
}

/// Stages send least: they are taken across links that are slow.
TEST(Search, PutsStagesAcrossSlowLinks) {
  auto stagesWith = [&](double between) -> int64_t {
    Cluster cluster = cores(4);
    cluster.levels = {{"node", 2, 50e9, 1e-6}, {"network", 4, between, 5e-6}};
    Situation gpt("gpt-char", {{"layers", "4"}, {"width", "128"}, {"heads", "4"}, {"batch", "16"}},
                  cluster);
    SearchResult result =
        gpt.search({.axes = {"pp", "dp"}, .fewer = false, .lowered = 4}, "schedule=1f1b");
    return result.best.empty() ? 0 : AxisSizes::of(result.best.front().strategy.mesh).pp;
  };
  EXPECT_GT(stagesWith(0.05e9), 1);
  EXPECT_EQ(stagesWith(50e9), 1);
}

} // namespace
