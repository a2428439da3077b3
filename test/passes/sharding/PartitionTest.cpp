//===- PartitionTest.cpp - All ranks beside one device --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "passes/Pipeline.h"
#include "passes/VerifyRanks.h"
#include "strategy/Fields.h"
#include "support/Text.h"
#include "support/mesh/Stages.h"
#include "verify/RandomInputs.h"
#include "verify/RankInterpreter.h"
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <utility>

using namespace weir;

namespace {

struct Case {
  std::string model, mesh;
  int64_t zero = 0;
  bool sequenceParallel = true;
  std::string contextParallel = "";
  std::string schedule = "1f1b";
  std::string more = ""; ///< of the strategy
};

void PrintTo(const Case &one, std::ostream *out) {
  *out << one.model << " on " << one.mesh << " zero " << one.zero << " " << one.schedule;
}

/// Whether a model, with its small sizes, has what the mesh cuts: others are refused. llama has 4
/// heads and 9 positions, vit 2 and 5, and others 2 and no number that ranks divide.
bool fits(const std::string &model, const Case &one) {
  auto has = [&](const char *axis) { return one.mesh.find(axis) != std::string::npos; };
  bool attends = model == "gpt-char" || model == "lora" || model == "moe";
  if (one.contextParallel == "ring") // with positions that ranks have as many of
    return attends || model == "llama" || (model == "vit" && has("cp=2"));
  if (has("cp=3") || has("cp=4") || !one.contextParallel.empty())
    attends = false;
  // States go from batch to batch: a step of it cannot be cut into microbatches.
  if (model == "resnet" && has("pp="))
    return false;
  return (!has("ep=") || model == "moe") &&
         (!has("cp=") || attends || model == "llama" || model == "vit");
}

/// Every way of 2, 4 and 8 ranks over dp, tp, ep and cp, with every level of ZeRO: for whoever has
/// an hour.
std::vector<Case> allMeshes() {
  std::vector<Case> all;
  for (const char *mesh : {"ep=2",           "ep=3",           "dp=2,ep=2",
                           "ep=2,tp=2",      "tp=2,ep=2,dp=2", "ep=2,cp=2",
                           "dp=2,ep=2,cp=2", "cp=2",           "cp=4",
                           "dp=2,cp=2",      "cp=2,tp=2",      "tp=2,cp=2",
                           "cp=4,tp=2",      "dp=2,cp=2,tp=2", "cp=2,ep=2,tp=2",
                           "cp=4,dp=2",      "dp=3:1",         "dp=1:1:2",
                           "dp=2:1,tp=2",    "tp=2,dp=1:2",    "dp=1:2,ep=2,tp=2",
                           "cp=2,dp=2:1"})
    for (int64_t zero = 0; zero <= 3; ++zero) {
      all.push_back({"", mesh, zero});
      if (std::string(mesh).find("tp") != std::string::npos)
        all.push_back({"", mesh, zero, false});
    }
  for (const char *mesh : {"cp=3", "dp=2,cp=3", "cp=3,tp=2", "dp=2,cp=3,tp=2"})
    for (int64_t zero = 0; zero <= 3; ++zero)
      all.push_back({"", mesh, zero, zero % 2 == 0, "gather"});
  for (const char *mesh : {"cp=2", "cp=4", "dp=2,cp=2", "cp=2,tp=2", "dp=2,cp=2,tp=2"})
    for (int64_t zero = 0; zero <= 3; ++zero)
      all.push_back({"", mesh, zero, zero % 2 == 0, "ring"});
  for (const char *schedule : {"gpipe", "1f1b", "interleaved", "zero-bubble"}) {
    for (const char *mesh : {"pp=2", "pp=4", "pp=2,tp=2", "pp=4,tp=2", "pp=2,tp=4"})
      all.push_back({"", mesh, 0, true, "", schedule});
    for (const char *mesh :
         {"pp=2,dp=2", "dp=4,pp=2", "pp=4,dp=2", "pp=2,tp=2,dp=2", "dp=2,pp=2,tp=2", "pp=2,cp=2",
          "pp=2,ep=2", "pp=2,ep=2,dp=2", "pp=1:3,dp=2:1"})
      for (int64_t zero = 0; zero <= 3; ++zero)
        all.push_back({"", mesh, zero, zero % 2 == 0, "", schedule});
  }
  for (int64_t ranks : {2, 4, 8})
    for (int64_t dp = 1; dp <= ranks; dp *= 2)
      for (int64_t zero = 0; zero <= (dp > 1 ? 3 : 0); ++zero) {
        int64_t tp = ranks / dp;
        std::string mesh = dp > 1 ? "dp=" + std::to_string(dp) : "";
        if (tp > 1)
          mesh += (mesh.empty() ? "tp=" : ",tp=") + std::to_string(tp);
        all.push_back({"", mesh, zero});
        if (tp > 1)
          all.push_back({"", mesh, zero, false});
      }
  return all;
}

/// Of the tests that run each time.
const std::vector<Case> usualMeshes = {
    {"", "dp=2", 0},
    {"", "dp=2", 1},
    {"", "dp=2", 3},
    {"", "dp=3", 0},
    {"", "dp=3", 1},
    {"", "dp=3", 3},
    {"", "tp=2", 0},
    {"", "tp=2", 0, false},
    {"", "tp=3", 0},
    {"", "tp=4", 0},
    {"", "dp=2,tp=2", 0},
    {"", "dp=2,tp=2", 1, false},
    {"", "tp=2,dp=2", 3},
    {"", "ep=2", 0},
    {"", "dp=2,ep=2,tp=2", 1},
    {"", "ep=3", 3},
    {"", "cp=2", 0},
    {"", "cp=2", 3},
    {"", "dp=2,cp=2,tp=2", 1},
    {"", "cp=4", 0},
    {"", "cp=2,ep=2", 2},
    {"", "cp=3", 0, true, "gather"},
    {"", "tp=2,dp=2,cp=3", 1, true, "gather"},
    {"", "cp=3", 0, true, "ring"},
    {"", "cp=2,tp=2", 3, true, "ring"},
    {"", "pp=2", 0},
    {"", "pp=4", 0, true, "", "zero-bubble"},
    {"", "pp=2,dp=2", 1, true, "", "interleaved"},
    {"", "tp=2,pp=2", 0, false, "", "gpipe"},
    {"", "dp=2,pp=2,tp=2", 3},
    {"", "dp=3:1", 0},
    {"", "dp=1:2", 3},
    {"", "dp=2:1,tp=2", 1},
    {"", "dp=1:2,ep=2,tp=2", 2},
    {"", "cp=2,dp=2:1", 3},
    {"", "pp=3:1", 0},
    {"", "pp=1:2,dp=2:1", 1, true, "", "interleaved"},
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const char *asked = std::getenv("WEIR_TEST_MESHES");
  bool isAll = asked && std::string(asked) == "all";
  std::vector<Case> meshes = isAll ? allMeshes() : usualMeshes;
  std::set<std::string> models;
  for (const auto &file : std::filesystem::directory_iterator(WEIR_MODELS))
    if (file.path().extension() == ".weir")
      models.insert(file.path().stem().string());
  size_t turn = 0;
  for (const std::string &model : models) {
    // Two models that are cut in all ways have all meshes, the others every other one.
    bool hasHalf = !isAll && model != "gpt-char" && model != "moe";
    ++turn; // the next model begins with the mesh that this one leaves out
    for (const Case &one : meshes)
      if (fits(model, one) && !(hasHalf && ++turn % 2))
        all.push_back(
            {model, one.mesh, one.zero, one.sequenceParallel, one.contextParallel, one.schedule});
  }
  return all;
}

/// The sizes of a model's first line `// small:`.
std::map<std::string, std::string> smallSizes(const std::string &path) {
  std::ifstream file(path);
  std::map<std::string, std::string> sizes;
  for (std::string line; sizes.empty() && std::getline(file, line);)
    if (line.starts_with("// small: ")) {
      std::istringstream words(line.substr(10));
      for (std::string word; words >> word;)
        sizes[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    }
  return sizes;
}

/// The largest difference, relative to the largest element.
double difference(const Tensor &a, const Tensor &b) {
  if (a.shape != b.shape)
    return INFINITY;
  double largest = 0, size = 0;
  for (auto [x, y] : llvm::zip_equal(a.values, b.values)) {
    largest = std::max(largest, std::abs(x - y));
    size = std::max(size, std::abs(x));
  }
  return largest / std::max(size, 1e-30);
}

/// A model cut over a mesh, and what each of its ranks runs.
struct Partitioned {
  explicit Partitioned(const Case &one, const std::map<std::string, std::string> &sets = {})
      : mesh(std::get<Mesh>(Mesh::parse(one.mesh))) {
    mlir::DialectRegistry registry;
    registerTargetDialects(registry);
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    std::string path = std::string(WEIR_MODELS) + "/" + one.model + ".weir";
    std::map<std::string, std::string> sizes = sets.empty() ? smallSizes(path) : sets;
    int64_t stages = stagesOf(mesh), microbatches = stages > 1 ? stages : 0,
            rows = mesh.ranks() / stages > 4 ? 9 : 5; // ranks do not have as many rows
    if (one.contextParallel == "ring" && sets.empty()) {
      if (one.model == "vit")
        sizes["side"] = "9"; // 9 patches, and what stands for all
      else
        sizes["context"] = "24";
    }
    if (one.model == "mnist-cnn" && microbatches) // which has states from batch to batch
      sizes["microbatches"] = std::to_string(std::exchange(microbatches, 0));
    if (sets.empty())
      sizes["batch"] = std::to_string(rows * std::max<int64_t>(microbatches, 1));
    module = elaborate(path, sizes, sources, context, diagnostics).module;
    if (!module || mlir::failed(feed = makeRandomInputs(*module, 1)))
      return;
    PipelineOptions options{
        .target = makeTarget("cpu:x86-64-v3"),
        .strategy = strategy::parsed(
            concat("mesh=", one.mesh, " zero=", one.zero, " schedule=", one.schedule,
                   " sequence-parallel=", one.sequenceParallel ? "on" : "off",
                   one.contextParallel.empty() ? "" : " context-parallel=" + one.contextParallel,
                   microbatches ? concat(" microbatches=", microbatches) : "", " ", one.more))};
    made = mlir::succeeded(runPassGroups(*module, options, "layouts"));
    addVariables(*feed, *module, 1, Moment::middle);
    for (int64_t rank = 0; made && rank < mesh.ranks(); ++rank) {
      programOf.push_back(uint32_t(rank));
      ranks.push_back(*programs.emplace_back(module->clone()));
      options.rank = rank;
      made = mlir::succeeded(runPassGroups(ranks.back(), options, "partition", "partition"));
    }
  }

  const Mesh mesh;
  mlir::MLIRContext context;
  SourceManager sources;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::FailureOr<RandomInputs> feed = mlir::failure();
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> programs;
  std::vector<mlir::ModuleOp> ranks;
  std::vector<uint32_t> programOf;
  bool made = false;
};

class OfModels : public testing::TestWithParam<Case> {};

void expectWhatOneDeviceComputes(Partitioned &cut) {
  ASSERT_TRUE(cut.made);
  ASSERT_TRUE(mlir::succeeded(verifyRanks(cut.ranks, cut.programOf)));
  for (auto entry : cut.module->getOps<mlir::func::FuncOp>()) {
    std::string name = entry.getSymName().str();
    Interpreter alone;
    RankInterpreter together(cut.mesh, cut.ranks);
    alone.variables = together.variables = cut.feed->variablesFor(name);
    auto truth = alone.run(entry, cut.feed->inputs[name]);
    auto found = together.run(name, cut.feed->inputs[name]);
    ASSERT_TRUE(mlir::succeeded(truth) && mlir::succeeded(found)) << name;
    EXPECT_EQ(together.apart, "");
    for (size_t i = 0; i < truth->size(); ++i)
      EXPECT_LT(difference((*truth)[i], (*found)[i]), 1e-9) << "result " << i << " of " << name;
    for (const auto &[variable, value] : alone.variables)
      EXPECT_LT(difference(value, together.variables.at(variable)), 1e-9)
          << variable << " after " << name;
  }
}

TEST_P(OfModels, RanksComputeWhatOneDeviceDoes) {
  Partitioned cut(GetParam());
  expectWhatOneDeviceComputes(cut);
}

double bytesOf(mlir::ModuleOp program, Role role) {
  double bytes = 0;
  for (auto variable : program.getOps<VariableOp>())
    if (variable.getRole() == role)
      bytes += double(storageBytes(variable.getType()));
  return bytes;
}

/// A collective of a step.
struct Moved {
  bool gathers, again; ///< or it is an exchange
  double bytes;        ///< that a rank gets of the others
};

std::vector<Moved> movedIn(mlir::ModuleOp program) {
  std::vector<Moved> all;
  auto add = [&](bool gathers, bool again, mlir::Value result, int64_t own) {
    int64_t rows = shapeOf(result)[0];
    all.push_back({gathers, again,
                   double(storageBytes(result.getType())) * double(rows - own) / double(rows)});
  };
  auto step = program.lookupSymbol<mlir::func::FuncOp>("step");
  step.walk(
      [&](AllGatherOp op) { add(true, op.getAgain(), op.getResult(), shapeOf(op.getInput())[0]); });
  step.walk([&](AllToAllOp op) {
    add(false, false, op.getResult(), shapeOf(op.getResult())[0] / int64_t(op.getRows().size()));
  });
  step.walk([&](CollectivePermuteOp op) {
    all.push_back({false, op.getAgain(), double(storageBytes(op.getResult().getType()))});
  });
  return all;
}

/// What a rank gets of the others in a step.
double bytesMoved(mlir::ModuleOp program) {
  double bytes = 0;
  for (const Moved &one : movedIn(program))
    bytes += one.bytes;
  return bytes;
}

class OfZero : public testing::TestWithParam<int64_t> {};

/// The bytes of the tensors that a step's microbatches accumulate.
double bytesAccumulated(mlir::ModuleOp program) {
  double bytes = 0;
  program.lookupSymbol<mlir::func::FuncOp>("step").walk([&](MicrobatchesOp loop) {
    for (mlir::Value sum : loop.getResults().take_front(loop.numSums()))
      bytes += double(storageBytes(sum.getType()));
  });
  return bytes;
}

/// From ZeRO 2 on, each microbatch reduces its gradients, and a rank accumulates its shards.
TEST_P(OfZero, MicrobatchesAccumulateShards) {
  const int64_t zero = GetParam(), ranks = 4;
  for (const char *more : {"microbatches=2", "microbatches=2 grad-reduce-dtype=bf16"}) {
    Partitioned cut({"gpt-char", "dp=4", zero, true, "", "1f1b", more},
                    {{"layers", "2"}, {"batch", "16"}, {"vocab", "64"}});
    ASSERT_TRUE(cut.made);
    const double parameters = bytesOf(*cut.module, Role::parameter);
    for (mlir::ModuleOp program : cut.ranks) {
      EXPECT_LE(bytesAccumulated(program), 1.01 * parameters / double(zero >= 2 ? ranks : 1));
      EXPECT_GE(bytesAccumulated(program), 0.99 * parameters / double(zero >= 2 ? ranks : 1));
    }
    if (std::string_view(more).find("bf16") == std::string_view::npos)
      expectWhatOneDeviceComputes(cut);
  }
}

/// Gradients are reduced once: in all 2 (k - 1) / k of the parameters' bytes come to each of k
/// ranks, and what is kept in parts is a k-th of it. Parameters that are kept in parts are gathered
/// twice, forward and backward.
TEST_P(OfZero, MovesWhatTheTextbookSays) {
  const int64_t zero = GetParam(), ranks = 4;
  Partitioned cut({"gpt-char", "dp=4", zero}, {{"layers", "2"}, {"batch", "8"}, {"vocab", "64"}});
  ASSERT_TRUE(cut.made);
  for (mlir::ModuleOp program : cut.ranks) {
    double parameters = bytesOf(*cut.module, Role::parameter),
           states = bytesOf(*cut.module, Role::optimizer);
    double textbook = (zero >= 3 ? 3.0 : 2.0) * double(ranks - 1) / double(ranks) * parameters;
    EXPECT_GE(bytesMoved(program), 0.99 * textbook);
    EXPECT_LE(bytesMoved(program), 1.01 * textbook);
    EXPECT_LE(bytesOf(program, Role::optimizer), zero >= 1 ? 1.1 / ranks * states : states);
    EXPECT_LE(bytesOf(program, Role::parameter), zero >= 3 ? 1.1 / ranks * parameters : parameters);
  }
}

/// The last op that uses a value, as it is or in another shape.
mlir::Operation *lastUse(mlir::Value value) {
  mlir::Operation *last = value.getDefiningOp();
  for (mlir::Operation *user : value.getUsers()) {
    mlir::Operation *use = llvm::isa<View>(user) ? lastUse(user->getResult(0)) : user;
    if (use->getBlock() == last->getBlock() && last->isBeforeInBlock(use))
      last = use;
  }
  return last;
}

/// Parameters that are kept in parts are whole for a layer at a time: of all that is gathered,
/// never more is needed than two layers have.
TEST(OfZero3, GathersALayerAtATime) {
  Partitioned cut({"gpt-char", "dp=4", 3}, {{"layers", "6"}, {"batch", "8"}, {"vocab", "64"}});
  ASSERT_TRUE(cut.made);
  auto step = cut.ranks[0].lookupSymbol<mlir::func::FuncOp>("step");
  std::map<const mlir::Operation *, double> changes;
  step.walk([&](AllGatherOp op) {
    double bytes = double(storageBytes(op.getResult().getType()));
    changes[op] += bytes;
    changes[lastUse(op.getResult())] -= bytes;
  });
  double alive = 0, most = 0, layer = 0;
  for (mlir::Operation &op : step.front())
    if (auto found = changes.find(&op); found != changes.end())
      most = std::max(most, alive += found->second);
  for (auto variable : cut.module->getOps<VariableOp>())
    if (variable.getRole() == Role::parameter && variable.getSymName().starts_with("h.0."))
      layer += double(storageBytes(variable.getType()));
  EXPECT_GT(most, 0);
  EXPECT_LE(most, 2 * layer);
}

INSTANTIATE_TEST_SUITE_P(All, OfZero, testing::Values(0, 1, 2, 3));

/// Of gpt-char, so many layers over tp=2.
struct Layers {
  Layers(int64_t count, bool sequenceParallel)
      : cut({"gpt-char", "tp=2", 0, sequenceParallel},
            {{"layers", std::to_string(count)}, {"batch", "8"}, {"vocab", "1024"}}) {
    if (cut.made)
      moved = movedIn(cut.ranks[0]);
  }

  /// Of those that move as much as activations between layers are, or half of it.
  std::array<int64_t, 3> large() const {
    std::array<int64_t, 3> counts = {0, 0, 0};
    for (const Moved &one : moved)
      if (one.bytes >= activations / 2 * 0.99)
        ++counts[one.again ? 2 : one.gathers ? 0 : 1];
    return counts;
  }
  double small() const {
    double bytes = 0;
    for (const Moved &one : moved)
      bytes += one.bytes < activations / 2 * 0.99 ? one.bytes : 0;
    return bytes;
  }

  /// 8 rows of 64 places, 128 wide, in f32.
  static constexpr double activations = 8 * 64 * 128 * 4;
  Partitioned cut;
  std::vector<Moved> moved;
};

class OfTensors : public testing::TestWithParam<bool> {};

/// A layer takes four sums of activations, two forward and two backward (Megatron-LM, 2019), each
/// of an exchange of parts and a gather of their sums. With sequence parallelism (Korthikanti et
/// al., 2022) gathers stand ahead of matrices and exchanges behind them, four of each, and two
/// gathers are made again for the gradients of matrices.
TEST_P(OfTensors, MovesWhatTheTextbookSays) {
  Layers two(2, GetParam()), three(3, GetParam());
  ASSERT_TRUE(two.cut.made && three.cut.made);
  auto more = three.large(), less = two.large();
  EXPECT_EQ(more[0] - less[0], 4) << "gathers";
  EXPECT_EQ(more[1] - less[1], 4) << "exchanges";
  EXPECT_EQ(more[2] - less[2], GetParam() ? 2 : 0) << "gathers made again";
  EXPECT_LE(three.small() - two.small(),
            0.01 * (bytesMoved(three.cut.ranks[0]) - bytesMoved(two.cut.ranks[0])));
}

/// Matrices of layers are in halves, with what the optimizer keeps of them.
TEST_P(OfTensors, MatricesAreKeptInParts) {
  Layers layers(2, GetParam());
  ASSERT_TRUE(layers.cut.made);
  for (auto variable : layers.cut.module->getOps<VariableOp>()) {
    llvm::StringRef name = variable.getSymName();
    if (!name.contains("h.") || cast<mlir::RankedTensorType>(variable.getType()).getRank() < 2)
      continue;
    auto own = layers.cut.ranks[0].lookupSymbol<VariableOp>(name);
    EXPECT_LE(double(storageBytes(own.getType())),
              1.1 / 2 * double(storageBytes(variable.getType())))
        << name.str();
  }
}

INSTANTIATE_TEST_SUITE_P(All, OfTensors, testing::Bool());

/// How many collectives of a kind, in which a rank gets so many bytes, a third layer adds to a
/// step.
struct OfALayer {
  int64_t gathers, again, exchanges;
  bool operator==(const OfALayer &) const = default;
};
void PrintTo(const OfALayer &one, std::ostream *out) {
  *out << one.gathers << " gathers, " << one.again << " again, " << one.exchanges << " exchanges";
}

OfALayer ofALayer(const Case &one, double bytes) {
  OfALayer count = {};
  for (int64_t layers : {2, 3}) {
    Partitioned cut(one, {{"layers", std::to_string(layers)}, {"batch", "8"}});
    EXPECT_TRUE(cut.made);
    for (const Moved &moved : cut.made ? movedIn(cut.ranks[0]) : std::vector<Moved>())
      if (moved.bytes == bytes)
        (moved.again     ? count.again
         : moved.gathers ? count.gathers
                         : count.exchanges) += layers == 3 ? 1 : -1;
  }
  return count;
}

/// Over two axes of a batch gradients are added up as over one of all their ranks: a rank gets
/// 2 (k - 1) / k times the parameters' bytes.
TEST(OfBatches, AxesTogetherMoveWhatOneWould) {
  Partitioned two({"gpt-char", "dp=2,cp=2"}, {{"layers", "2"}, {"batch", "8"}, {"vocab", "64"}});
  ASSERT_TRUE(two.made);
  double parameters = bytesOf(two.ranks[0], Role::parameter), around = 8 * 2, // of layers
      exchanged = 4 * 32 * 128 * 4 / 2, textbook = 2 * 3.0 / 4 * parameters + around * exchanged;
  EXPECT_GE(bytesMoved(two.ranks[0]), 0.98 * textbook);
  EXPECT_LE(bytesMoved(two.ranks[0]), 1.02 * textbook);
}

/// Tokens go to their experts and come back, forward and backward (GShard, 2020): of 4 rows, 8
/// experts with 21 places each for tokens of 96 features, half are the other rank's.
TEST(OfExperts, MovesWhatTheTextbookSays) {
  EXPECT_EQ(ofALayer({"moe", "ep=2"}, 4 * 8 * 21 * 96 * 4 / 2), OfALayer(0, 0, 4));
}

/// Queries, keys, values and results, and the gradients of all four (Ulysses, 2023): of 8 rows 32
/// places, 128 wide, half are the other rank's.
TEST(OfSequences, MovesWhatTheTextbookSays) {
  EXPECT_EQ(ofALayer({"gpt-char", "cp=2"}, 8 * 32 * 128 * 4 / 2), OfALayer(0, 0, 8));
}

/// Keys and values are gathered, again for gradients, and theirs added up: both at once, here.
TEST(OfSequences, GathersWhatTheTextbookSays) {
  EXPECT_EQ(ofALayer({"gpt-char", "cp=2", 0, true, "gather"}, 2 * 8 * 32 * 128 * 4),
            OfALayer(1, 1, 1));
}

/// Keys and values go round once forward and once for gradients, and their gradients with them and
/// home (Ring attention, 2023).
TEST(OfSequences, PassesOnWhatTheTextbookSays) {
  EXPECT_EQ(ofALayer({"gpt-char", "cp=2", 0, true, "ring"}, 8 * 32 * 128 * 4),
            OfALayer(0, 2 + 4, 2));
}

INSTANTIATE_TEST_SUITE_P(All, OfModels, testing::ValuesIn(cases()), [](const auto &info) {
  std::string name = info.param.model + "_" + info.param.mesh + "_zero" +
                     std::to_string(info.param.zero) +
                     (info.param.sequenceParallel ? "" : "_whole") + info.param.contextParallel +
                     (info.param.schedule == "1f1b" ? "" : info.param.schedule);
  std::ranges::replace_if(name, [](char c) { return !isalnum(c); }, '_');
  return name;
});

} // namespace
