//===- ExpandCollectivesTest.cpp - Expanded collectives give the same sums ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "verify/RankInterpreter.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace weir;

namespace {

/// A program of each rank of dp = 2, cp = 3, which has 2 of 12 rows of the input, and its results.
class Expanded : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    mlir::DialectRegistry registry;
    registerTargetDialects(registry);
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.loadDialect<WeirDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        std::string("module attributes {weir.mesh = #weir.mesh<dp = 2, cp = 3>} {\n"
                    "func.func @f(%x: tensor<2x5xf32> {weir.sharding = #weir.sharding<[12@dp@cp, "
                    "5]>}) -> tensor<2x5xf32> {\n") +
            GetParam() + "return %y : tensor<2x5xf32>\n}\n}\n",
        &context);
    ASSERT_TRUE(module);
  }

  std::vector<double> run() {
    const Mesh mesh = std::get<Mesh>(Mesh::parse("dp=2,cp=3"));
    Tensor rows({12, 5});
    std::iota(rows.values.begin(), rows.values.end(), 1.0);
    RankInterpreter all(mesh, std::vector<mlir::ModuleOp>(size_t(mesh.ranks()), *module));
    auto results = all.run("f", {rows});
    EXPECT_TRUE(mlir::succeeded(results) && all.apart.empty()) << all.apart;
    return mlir::succeeded(results) ? (*results)[0].values : std::vector<double>();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_P(Expanded, GivesTheSameSums) {
  // Element (i, j) is 1 + 5 (2 rank + i) + j.
  std::vector<double> expected;
  for (int64_t element = 0; element < 10; ++element)
    expected.push_back(6 * double(1 + element) + 10.0 * (0 + 1 + 2 + 3 + 4 + 5));
  EXPECT_EQ(run(), expected);
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(createExpandCollectives());
  ASSERT_TRUE(mlir::succeeded(manager.run(*module)));
  module->walk([](mlir::Operation *op) {
    EXPECT_FALSE(op->getName().getStringRef() == "weir.all_reduce" ||
                 op->getName().getStringRef() == "weir.reduce_scatter");
  });
  EXPECT_EQ(run(), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Collectives, Expanded,
    testing::Values(
        "%y = weir.all_reduce %x over [\"dp\", \"cp\"] : tensor<2x5xf32> -> tensor<2x5xf32>\n",
        // As much as it is where a member reduces its rows alone.
        "%y = weir.all_reduce %x over [\"cp\", \"dp\"] fullest 8192 : tensor<2x5xf32> -> "
        "tensor<2x5xf32>\n",
        "%flat = weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<2x5xf32> -> "
        "tensor<10xf32>\n"
        "%cp = weir.all_reduce %flat over [\"cp\"] : tensor<10xf32> -> tensor<10xf32>\n"
        "%own = weir.reduce_scatter %cp over \"dp\" rows [5, 5] : tensor<10xf32> -> "
        "tensor<5xf32>\n"
        "%all = weir.all_gather %own over \"dp\" rows [5, 5] : tensor<5xf32> -> tensor<10xf32>\n"
        "%y = weir.split_dim %all {dimension = 0 : i64, sizes = array<i64: 2, 5>} : "
        "tensor<10xf32> -> tensor<2x5xf32>\n"));

} // namespace
