//===- MovesTest.cpp - Values are the same in any layout ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "ir/weir/Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/sharding/Reshard.h"
#include "verify/RankInterpreter.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace weir;
using sharding::Step;

namespace {

std::string printedAttr(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// Programs whose ops are cut so, one after the other, and what comes of the numbers from 0 on.
struct Cut {
  Cut(const std::string &mesh, const std::string &type, const std::vector<std::string> &cuts)
      : mesh(std::get<Mesh>(Mesh::parse(mesh))) {
    mlir::DialectRegistry registry;
    registerTargetDialects(registry);
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.loadDialect<WeirDialect, mlir::func::FuncDialect>();
    std::string text =
        "module attributes {weir.mesh = " + printedAttr(MeshAttr::get(&context, this->mesh)) +
        "} {\nfunc.func @f(%0: " + type + ") -> " + type + " {\n";
    for (size_t i = 0; i < cuts.size(); ++i)
      text += "%" + std::to_string(i + 1) + " = weir.neg %" + std::to_string(i) +
              " {weir.factor_sharding = " +
              printedAttr(shardingAttr(&context, *Layout::parse(cuts[i], this->mesh), this->mesh)) +
              "} : " + type + "\n";
    text += "return %" + std::to_string(cuts.size()) + " : " + type + "\n}\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    for (int64_t rank = 0; module && rank < this->mesh.ranks(); ++rank) {
      ranks.push_back(*programs.emplace_back(module->clone()));
      mlir::PassManager partition(&context);
      partition.addPass(createPartition({rank}));
      if (mlir::failed(partition.run(ranks.back())))
        module = nullptr;
    }
  }

  void expectTheSame() {
    ASSERT_TRUE(module);
    auto entry = *module->getOps<mlir::func::FuncOp>().begin();
    Tensor numbers(shapeOf(entry.getArgument(0)));
    std::iota(numbers.values.begin(), numbers.values.end(), 0.0);
    Interpreter alone;
    auto truth = alone.run(entry, {numbers});
    auto found = RankInterpreter(mesh, ranks).run("f", {numbers});
    ASSERT_TRUE(mlir::succeeded(truth) && mlir::succeeded(found));
    EXPECT_EQ((*truth)[0].values, (*found)[0].values);
  }

  const Mesh mesh;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> programs;
  std::vector<mlir::ModuleOp> ranks;
};

Layout layoutOf(const std::string &text, const Mesh &mesh) { return *Layout::parse(text, mesh); }

std::vector<Step::Kind> kinds(const std::string &mesh, const std::string &from,
                              const std::string &to) {
  Mesh parsed = std::get<Mesh>(Mesh::parse(mesh));
  std::vector<Step::Kind> found;
  for (const Step &step :
       sharding::stepsBetween(layoutOf(from, parsed), layoutOf(to, parsed), parsed))
    found.push_back(step.kind);
  return found;
}

TEST(Moves, TakeTheFewestBytes) {
  using Kinds = std::vector<Step::Kind>;
  EXPECT_EQ(kinds("a=2", "4@a 6", "4 6"), Kinds{Step::gather});
  EXPECT_EQ(kinds("a=2", "4 6", "4 6@a"), Kinds{Step::slice});
  EXPECT_EQ(kinds("a=2", "4@a 6", "4 6@a"), Kinds{Step::swap});
  EXPECT_EQ(kinds("a=2", "4 6 +a", "4 6"), Kinds{Step::sum});
  EXPECT_EQ(kinds("a=2", "4 6 +a", "4 6@a"), Kinds{Step::sumTo});
  // Of unequal shares what is swapped has no shape; pieces that have nothing in common are
  // gathered.
  EXPECT_EQ(kinds("a=2", "5@a 6", "5 6@a"), (Kinds{Step::gather, Step::slice}));
  EXPECT_EQ(kinds("a=2", "3@a*4", "3*4@a"), (Kinds{Step::gather, Step::slice}));
  EXPECT_EQ(kinds("a=2", "4@a*3", "2*6@a"), (Kinds{Step::regroup, Step::swap}));
  EXPECT_EQ(kinds("a=2", "6@a*2", "4*3@a"), (Kinds{Step::gather, Step::regroup, Step::slice}));
}

TEST(Moves, SwapsPieces) {
  for (auto [mesh, from, to] : std::initializer_list<std::array<const char *, 3>>{
           {"a=2", "4@a 6 5", "4 6 5@a"},
           {"a=2", "4 6 4@a", "4 6@a 4"},
           {"a=2", "4@a 6 5", "4 2*3@a 5"},
           {"a=2", "2*2@a 6 5", "2*2 2*3@a 5"},
           {"a=2,b=2", "4@b@a 6 5", "4@b 6@a 5"},
           {"a=2,b=3", "4@a 6@b 5", "4 6@b 5@a"},
       }) {
    SCOPED_TRACE(std::string(from) + " to " + to);
    std::string last = from;
    Cut(mesh, "tensor<4x6x" + last.substr(last.rfind(' ') + 1, 1) + "xf32>", {from, to})
        .expectTheSame();
  }
}

/// Layouts of a shape at random: dimensions fall into pieces, and axes cut some.
std::string randomLayout(std::mt19937 &random, const std::vector<std::vector<int64_t>> &shape,
                         const Mesh &mesh) {
  Layout layout;
  for (const std::vector<int64_t> &factors : shape) {
    Pieces pieces;
    for (int64_t factor : factors)
      if (!pieces.empty() && random() % 2)
        pieces.back().size *= factor;
      else
        pieces.push_back({factor});
    layout.dimensions.push_back(pieces);
  }
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    Pieces &pieces = layout.dimensions[random() % shape.size()];
    Piece cut = pieces[random() % pieces.size()];
    Piece &piece = *std::ranges::find(pieces, cut);
    piece.axes.push_back(axis);
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      if (piece.share(mesh, rank).size == 0) {
        piece.axes.pop_back();
        break;
      }
  }
  for (Pieces &pieces : layout.dimensions)
    pieces = joined(pieces);
  return layout.text(mesh);
}

class Random : public testing::TestWithParam<const char *> {};

TEST_P(Random, LayoutsHoldTheSameValues) {
  Mesh mesh = std::get<Mesh>(Mesh::parse(GetParam()));
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    std::vector<std::string> cuts;
    for (int layout = 0; layout < 4; ++layout)
      cuts.push_back(randomLayout(random, {{2, 3}, {4, 2}, {5}}, mesh));
    SCOPED_TRACE(cuts[0] + " to " + cuts[1] + " to " + cuts[2] + " to " + cuts[3]);
    Cut(GetParam(), "tensor<6x8x5xf32>", cuts).expectTheSame();
  }
}

INSTANTIATE_TEST_SUITE_P(Moves, Random, testing::Values("a=2", "a=2,b=2", "a=3", "a=2,b=3", "b=4"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::ranges::replace_if(name, [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });

} // namespace
