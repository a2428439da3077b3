//===- PartitionTest.cpp - All ranks beside one device --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/VerifyRanks.h"
#include "verify/Feed.h"
#include "verify/Ranks.h"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace weir;

namespace {

struct Case {
  std::string model, mesh;
  int64_t zero = 0;
};

void PrintTo(const Case &one, std::ostream *out) {
  *out << one.model << " on " << one.mesh << " zero " << one.zero;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto &file : std::filesystem::directory_iterator(WEIR_MODELS))
    if (file.path().extension() == ".weir")
      for (const char *mesh : {"dp=2", "dp=3"})
        for (int64_t zero : {0, 1, 3})
          all.push_back({file.path().stem().string(), mesh, zero});
  std::ranges::sort(all, {},
                    [](const Case &one) { return std::tuple(one.model, one.mesh, one.zero); });
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
    if (sets.empty())
      sizes["batch"] = "5"; // ranks do not have as many rows
    module = elaborate(path, sizes, sources, context, diagnostics).module;
    if (!module || mlir::failed(feed = makeFeed(*module, 1)))
      return;
    PipelineOptions options{
        .target = makeTarget("cpu:x86-64-v3"), .mesh = one.mesh, .zero = one.zero};
    made = mlir::succeeded(runPhases(*module, options, "layouts"));
    addVariables(*feed, *module, 1, Moment::middle);
    for (int64_t rank = 0; made && rank < mesh.ranks(); ++rank) {
      programOf.push_back(uint32_t(rank));
      ranks.push_back(*programs.emplace_back(module->clone()));
      mlir::PassManager partition(&context);
      partition.addPass(createPartition({rank}));
      made = mlir::succeeded(partition.run(ranks.back()));
    }
  }

  const Mesh mesh;
  mlir::MLIRContext context;
  SourceManager sources;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::FailureOr<Feed> feed = mlir::failure();
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> programs;
  std::vector<mlir::ModuleOp> ranks;
  std::vector<uint32_t> programOf;
  bool made = false;
};

class OfModels : public testing::TestWithParam<Case> {};

TEST_P(OfModels, RanksComputeWhatOneDeviceDoes) {
  Partitioned cut(GetParam());
  ASSERT_TRUE(cut.made);
  ASSERT_TRUE(mlir::succeeded(verifyRanks(cut.ranks, cut.programOf)));
  for (auto entry : cut.module->getOps<mlir::func::FuncOp>()) {
    std::string name = entry.getSymName().str();
    Interpreter alone;
    Ranks together(cut.mesh, cut.ranks, cut.programOf);
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

double bytesOf(mlir::ModuleOp program, Role role) {
  double bytes = 0;
  for (auto variable : program.getOps<VariableOp>())
    if (variable.getRole() == role)
      bytes += double(storageBytes(variable.getType()));
  return bytes;
}

/// What a rank gets of the others in a step.
double bytesMoved(mlir::ModuleOp program) {
  double bytes = 0;
  auto add = [&](mlir::Value result, int64_t own) {
    int64_t rows = shapeOf(result)[0];
    bytes += double(storageBytes(result.getType())) * double(rows - own) / double(rows);
  };
  auto step = program.lookupSymbol<mlir::func::FuncOp>("step");
  step.walk([&](AllGatherOp op) { add(op.getResult(), shapeOf(op.getInput())[0]); });
  step.walk([&](AllToAllOp op) {
    add(op.getResult(), shapeOf(op.getResult())[0] / int64_t(op.getRows().size()));
  });
  return bytes;
}

class OfZero : public testing::TestWithParam<int64_t> {};

/// Gradients are reduced once: in all 2 (k - 1) / k of the parameters' bytes come to each of k
/// ranks, and what is kept in parts is a k-th of it.
TEST_P(OfZero, MovesWhatTheTextbookSays) {
  const int64_t zero = GetParam(), ranks = 4;
  Partitioned cut({"gpt-char", "dp=4", zero}, {{"layers", "2"}, {"batch", "8"}, {"vocab", "64"}});
  ASSERT_TRUE(cut.made);
  for (mlir::ModuleOp program : cut.ranks) {
    double parameters = bytesOf(*cut.module, Role::parameter),
           states = bytesOf(*cut.module, Role::optimizer);
    double textbook = 2.0 * double(ranks - 1) / double(ranks) * parameters;
    EXPECT_GE(bytesMoved(program), 0.99 * textbook);
    EXPECT_LE(bytesMoved(program), 1.01 * textbook);
    EXPECT_LE(bytesOf(program, Role::optimizer), zero >= 1 ? 1.1 / ranks * states : states);
    EXPECT_LE(bytesOf(program, Role::parameter), zero >= 3 ? 1.1 / ranks * parameters : parameters);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OfZero, testing::Values(0, 1, 2, 3));

INSTANTIATE_TEST_SUITE_P(All, OfModels, testing::ValuesIn(cases()), [](const auto &info) {
  std::string name =
      info.param.model + "_" + info.param.mesh + "_zero" + std::to_string(info.param.zero);
  std::ranges::replace_if(name, [](char c) { return !isalnum(c); }, '_');
  return name;
});

} // namespace
