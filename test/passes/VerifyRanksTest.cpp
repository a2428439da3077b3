//===- VerifyRanksTest.cpp - Where the ranks' programs do not fit ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is a fault is said in support/planned/Ranks.h and tested there; here, that IR is read right.
//
//===----------------------------------------------------------------------===//

#include "passes/VerifyRanks.h"
#include "ir/plan/PlanDialect.h"
#include "ir/weir/WeirDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

const char *const plan = R"(
module attributes {weir.mesh = #weir.mesh<dp = 3>} {
  plan.variable parameter @w at 0 {sharding = #weir.sharding<[5@dp, 4]>} : tensor<2x4xf32>
  plan.entry @step {
    %r = plan.alloc 64 "round" : !plan.buffer<scratch>
    %a = plan.alloc 64 "a" : !plan.buffer<scratch>
    %b = plan.alloc 128 "b" : !plan.buffer<scratch>
    plan.loop 2 round %r : !plan.buffer<scratch> {
    ^bb0(%i: !plan.index):
      plan.collective all_gather over "dp" %a to %b bytes [32, 32, 16] own 32 of f32 {number = 1 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch> loc("net.weir":3:1)
    }
    plan.collective all_gather over "dp" %a to %b bytes [32, 32, 16] own 32 of f32 {number = 2 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch> loc("net.weir":4:1)
    plan.port tensor "y" %b : tensor<5x4xf32> in !plan.buffer<scratch>
  }
})";

const char *const program = R"(
module attributes {weir.mesh = #weir.mesh<dp = 3>} {
  weir.variable parameter @w {weir.sharding = #weir.sharding<[5@dp, 4]>} : tensor<2x4xf32>
  func.func @step(%x: tensor<2x4xf32> {weir.sharding = #weir.sharding<[5@dp, 4]>}) -> tensor<5x4xf32> {
    %w = weir.read @w : tensor<2x4xf32>
    %y = weir.all_gather %x over "dp" rows [2, 2, 1] : tensor<2x4xf32> -> tensor<5x4xf32> loc("net.weir":3:1)
    %v = weir.all_gather %w over "dp" rows [2, 2, 1] : tensor<2x4xf32> -> tensor<5x4xf32> loc("net.weir":4:1)
    return %y : tensor<5x4xf32>
  }
})";

class OfIr : public testing::TestWithParam<const char *> {
protected:
  OfIr() {
    mlir::DialectRegistry registry;
    registry.insert<WeirDialect, plan::PlanDialect, mlir::func::FuncDialect>();
    context.appendDialectRegistry(registry);
  }

  /// With `change` made in the text of rank 2, which has one row.
  std::string problem(const std::vector<std::pair<std::string, std::string>> &changes) {
    std::string last = GetParam();
    auto replace = [&](const std::string &from, const std::string &to) {
      for (size_t at = last.find(from); at != std::string::npos;
           at = last.find(from, at + to.size()))
        last.replace(at, from.size(), to);
    };
    replace("tensor<2x4xf32>", "tensor<1x4xf32>");
    replace("own 32", "own 16");
    for (const auto &[from, to] : changes)
      replace(from, to);
    auto first = mlir::parseSourceString<mlir::ModuleOp>(GetParam(), &context),
         other = mlir::parseSourceString<mlir::ModuleOp>(last, &context);
    if (!first || !other)
      return "the test's programs cannot be read";
    std::string text;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      llvm::raw_string_ostream(text) << diagnostic.getLocation() << " " << diagnostic;
      return mlir::success();
    });
    bool wrong = mlir::failed(verifyRanks({*first, *other}, {0, 0, 1}));
    EXPECT_EQ(wrong, !text.empty());
    return text;
  }

  mlir::MLIRContext context;
};

TEST_P(OfIr, RanksThatFitAreAccepted) { EXPECT_EQ(problem({}), ""); }

TEST_P(OfIr, TheOpThatIsWrongIsNamed) {
  EXPECT_NE(problem({{"\"net.weir\":4:1", "\"net.weir\":9:1"}})
                .find("net.weir\":4:1) the programs of the ranks do not match: collective of "
                      "another op than another member's: entry 'step': rank 0 is in all_gather "
                      "over dp"),
            std::string::npos);
}

TEST_P(OfIr, SharesAreLookedAt) {
  EXPECT_NE(problem({{"tensor<1x4xf32>", "tensor<2x4xf32>"}, {"own 16", "own 32"}})
                .find("shares overlap: rank 2 has 2 places of 5 along dimension 0 of the variable "
                      "'w'"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, OfIr, testing::Values(plan, program),
                         [](const auto &info) { return info.index ? "Weir" : "Plan"; });

} // namespace
