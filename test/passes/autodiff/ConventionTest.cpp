//===- ConventionTest.cpp - Gradients where there is no derivative --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At a kink or a tie the gradient is what the op's description says: by differences, on the
// interpreter after autodiff and in the compiled program.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "test/passes/autodiff/GradientCheck.h"
#include "verify/Compiled.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::test;

namespace {

struct Convention {
  const char *name, *arguments, *body, *sources, *types;
  std::vector<std::vector<double>> inputs, gradients;
  bool differences = true; ///< whether the loss is finite on both sides
};

// The loss is the sum of %r, a tensor<4xf32>.
const Convention conventions[] = {
    {"absAtZero", "%a: T", "%r = weir.abs %a : T", "%a", "T", {{-1, 0, 2, -0.0}}, {{-1, 0, 1, 0}}},
    {"maxTies",
     "%a: T, %b: T",
     "%r = weir.max %a, %b : T",
     "%a, %b",
     "T, T",
     {{1, 2, 3, 0}, {1, 3, 2, 0}},
     {{1, 0, 1, 1}, {0, 1, 0, 0}}},
    {"minTies",
     "%a: T, %b: T",
     "%r = weir.min %a, %b : T",
     "%a, %b",
     "T, T",
     {{1, 2, 3, 0}, {1, 3, 2, 0}},
     {{1, 1, 0, 1}, {0, 0, 1, 0}}},
    {"sumOfAValueTwice",
     "%a: T",
     "%r = weir.add %a, %a : T",
     "%a",
     "T",
     {{1, 2, 3, 4}},
     {{2, 2, 2, 2}}},
    // The first of the largest has it.
    {"largestTies",
     "%a: T",
     "%m = weir.reduce max %a {axes = array<i64: 0>} : T -> tensor<f32>\n"
     "%r = weir.broadcast %m {dimensions = array<i64>} : tensor<f32> -> T",
     "%a",
     "T",
     {{3, 1, 3, 2}},
     {{4, 0, 0, 0}}},
    {"smallestTies",
     "%a: T",
     "%m = weir.reduce min %a {axes = array<i64: 0>} : T -> tensor<f32>\n"
     "%r = weir.broadcast %m {dimensions = array<i64>} : tensor<f32> -> T",
     "%a",
     "T",
     {{3, 1, 1, 2}},
     {{0, 4, 0, 0}}},
    // The first of the window has it.
    {"pooledTies",
     "%a: tensor<2x8xf32>",
     "%p = weir.max_pool %a {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : "
     "tensor<2x8xf32> -> tensor<1x4xf32>\n"
     "%r = weir.merge_dims %p {first = 0 : i64, count = 2 : i64} : tensor<1x4xf32> -> T",
     "%a",
     "tensor<2x8xf32>",
     {{1, 1, 0, 2, 5, 4, 0, 0, 1, 1, 2, 2, 5, 5, 0, 1}},
     {{1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}},
    {"stepsAreFlat",
     "%a: T",
     "%f = weir.floor %a : T\n%s = weir.sign %a : T\n%r = weir.add %f, %s : T",
     "%a",
     "T",
     {{1, 0, -2, 0.5}},
     {{0, 0, 0, 0}}},
    // x^2 at 0, and x^0, whose slope is 0 even where that of a logarithm is none.
    {"powerAtZero",
     "%a: T",
     "%n = weir.constant 2.0 : f32 -> T\n%r = weir.pow %a, %n : T",
     "%a",
     "T",
     {{0, -1, 2, -3}},
     {{0, -2, 4, -6}}},
    {"powerOfNothing",
     "%a: T, %b: T",
     "%r = weir.pow %a, %b : T",
     "%a, %b",
     "T, T",
     {{0, -2, -3, 2}, {0, 2, 0, 0}},
     {{0, -4, 0, 0}, {0, 0, 0, 0.6931471805599453}},
     false},
};

class Conventions : public testing::TestWithParam<Convention> {};

TEST_P(Conventions, areKept) {
  const Convention &one = GetParam();
  std::string sources = one.types;
  std::string text = std::string("func.func @f(") + one.arguments + ") -> (" + sources + ") {\n" +
                     one.body +
                     "\n%loss = weir.reduce sum %r {axes = array<i64: 0>} : T -> tensor<f32>\n";
  size_t count = one.gradients.size();
  text += (count == 1 ? "%g:1" : "%g:2") + std::string(" = weir.gradient %loss wrt (") +
          one.sources + ") : (tensor<f32>, " + sources + ") -> (" + sources + ")\nreturn " +
          (count == 1 ? "%g#0" : "%g#0, %g#1") + " : " + sources + "\n}";
  size_t at;
  while ((at = text.find("T")) != std::string::npos)
    text.replace(at, 1, "tensor<4xf32>");

  mlir::MLIRContext context;
  prepareContext(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
  mlir::PassManager autodiff(&context);
  autodiff.addNestedPass<mlir::func::FuncOp>(createAutodiff());
  ASSERT_TRUE(mlir::succeeded(autodiff.run(*module)));

  auto f = module->lookupSymbol<mlir::func::FuncOp>("f");
  Tensors inputs;
  for (auto [argument, values] : llvm::zip_equal(f.getArguments(), one.inputs)) {
    inputs.emplace_back(shapeOf(argument));
    inputs.back().values = values;
  }
  auto interpreted = Interpreter().run(f, inputs);
  ASSERT_TRUE(mlir::succeeded(interpreted));
  auto differences = Interpreter().run(copy->lookupSymbol<mlir::func::FuncOp>("f"), inputs);
  ASSERT_TRUE(mlir::succeeded(differences));
  completeProgram(*copy);
  auto artifact = compileModule(*copy, "cpu");
  ASSERT_TRUE(mlir::succeeded(artifact));
  Tensors compiled = CompiledProgram(std::move(*artifact)).run("f", inputs);
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < one.gradients[i].size(); ++j) {
      EXPECT_NEAR((*interpreted)[i].values[j], one.gradients[i][j], 1e-12) << i << ", " << j;
      EXPECT_NEAR(compiled[i].values[j], one.gradients[i][j], 1e-6) << i << ", " << j;
      if (one.differences) {
        EXPECT_NEAR((*differences)[i].values[j], one.gradients[i][j], 1e-8) << i << ", " << j;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Every, Conventions, testing::ValuesIn(conventions),
                         [](const auto &info) { return info.param.name; });

} // namespace
