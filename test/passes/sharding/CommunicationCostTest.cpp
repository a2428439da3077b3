//===- CommunicationCostTest.cpp - What a way to cut a program costs ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/CommunicationCost.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

/// What microbatches carry on lies otherwise than its variables: each is gathered once, however
/// many there are. So many that a map of their layouts grows at one of the loop's results; what is
/// read from its old memory is something else where MALLOC_PERTURB_ is set, as CTest's preset does.
TEST(ShardingCost, OfManyCarriedVariables) {
  constexpr int count = 150;
  auto list = [](auto each) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += (i ? ", " : "") + each(std::to_string(i));
    return text;
  };
  auto type = [](const std::string &) -> std::string { return "tensor<8x3xf32>"; };
  auto named = [](const char *prefix) {
    return [prefix](const std::string &i) { return prefix + i; };
  };
  std::string text, types = list(type);
  for (int i = 0; i < count; ++i)
    text += "weir.variable state @s" + std::to_string(i) + " : tensor<8x3xf32>\n";
  text += "func.func @step(%batch: tensor<2xf32>) {\n";
  for (int i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    text += "%r" + number + " = weir.read @s" + number + " : tensor<8x3xf32>\n";
  }
  text += "%after:" + std::to_string(count) + " = weir.microbatches 2 sliced(%batch) carried(" +
          list(named("%r")) + ") : (tensor<2xf32>, " + types + ") -> (" + types +
          ") {\n^bb0(%round: tensor<i32>, %part: tensor<1xf32>, " +
          list([](const std::string &i) { return "%a" + i + ": tensor<8x3xf32>"; }) +
          "):\nweir.yield " + list(named("%a")) + " : " + types + "\n}\n";
  for (int i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    text += "weir.write @s" + number + ", %after#" + number + " : tensor<8x3xf32>\n";
  }
  text += "return\n}\n";

  mlir::MLIRContext context;
  context.loadDialect<WeirDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  Mesh mesh = std::get<Mesh>(Mesh::parse("tp=2"));
  auto step = module->lookupSymbol<mlir::func::FuncOp>("step");
  sharding::Propagation propagation(mesh);
  for (auto read : step.getOps<ReadOp>())
    propagation.fix(read.getResult(), Layout::whole(tensorType(read.getResult()).getShape()));
  auto loop = *step.getOps<MicrobatchesOp>().begin();
  for (mlir::BlockArgument carried : loop.getBody().getArguments().drop_front(2)) {
    Layout cut = Layout::whole(tensorType(carried).getShape());
    cut.dimensions[0] = {{8, {0}}};
    propagation.fix(carried, cut);
  }
  EXPECT_EQ(sharding::shardingCostOf(step, propagation, mesh, {}).moved,
            count * 4 * 3 * sizeof(float));
}

/// Of 16 x 8 floats over four ranks: a second for each 4 bytes that are gathered, for each 2 that
/// are exchanged, and 1000 for each exchange.
TEST(ShardingCost, OfAStepIsWhatItsAxisTakes) {
  using namespace sharding;
  const Mesh mesh = std::get<Mesh>(Mesh::parse("dp=2,tp=4"));
  MeshRates rates;
  rates.axes["tp"] = {4, 2, 1000};
  auto price = [&](Step step, const char *before) {
    ShardingCost cost;
    add(cost, step, *Layout::parse(before, mesh), 4, mesh, rates);
    return std::pair(cost.exchanging, cost.moved);
  };
  using Pair = std::pair<double, double>;
  EXPECT_EQ(price({Step::gather, 1, 0, 0}, "16@tp 8"), Pair(1000 + 384 / 4, 384));
  EXPECT_EQ(price({Step::swap, 1, 1, 0, 0, 0}, "16@tp 8"), Pair(1000 + 96 / 2, 96));
  EXPECT_EQ(price({Step::sumTo, 1, 0, 0}, "16 8 +tp"), Pair(1000 + 384 / 2, 384));
  EXPECT_EQ(price({Step::slice, 1, 0, 0}, "16 8"), Pair(0, 0));
  // All of it at once: little.
  EXPECT_EQ(price({Step::sum, 1}, "16 8 +tp"), Pair(1000 + 1536 / 4, 1536));
  // With others.
  EXPECT_EQ(price({Step::sum, 1}, "128 +tp"), Pair(1536 / 4, 1536));
  // A share for each, which is gathered.
  EXPECT_EQ(price({Step::sum, 1}, "1024 8 +tp"), Pair(2000 + 24576 / 2 + 24576 / 4, 49152));
}

} // namespace
