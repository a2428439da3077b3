//===- AccumulateTest.cpp - A batch cut into microbatches, in f64 ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same step with 16 rows at once, 4 x 4, 2 x 8 and 1 x 16, on the reference interpreter: where
// loss and gradients are the same in mathematics they differ by the order of f64 additions alone.
// test/e2e/accumulate-test.py is the same of compiled programs, in f32.
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/Interpreter.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/program/Variable.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace weir {
namespace {

constexpr int64_t rows = 16, tokens = 9, vocabulary = 11;

/// What one step gives, by name: its outputs, and the variables after it.
struct Outcome {
  std::map<std::string, Tensor> outputs, variables;
};

/// Rows of a first token and 1 to all others, then padding.
Tensor windows() {
  std::mt19937 random(1);
  Tensor result(Shape{rows, tokens + 1});
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i <= 1 + (7 * row) % tokens; ++i)
      result.at({row, i}) = 1 + random() % (vocabulary - 1);
  return result;
}

class Accumulate : public testing::Test {
protected:
  Accumulate() {
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
  }

  /// `cut`: into how many microbatches the passes are asked to cut the step; 0: as the recipe says.
  Outcome step(int batch, int microbatches, const Tensor &input, int cut = 0) {
    Outcome outcome;
    Diagnostics diagnostics;
    ElaborateResult result = elaborate(
        WEIR_SOURCE_DIR "/test/e2e/Inputs/accumulate.weir",
        {{"batch", std::to_string(batch)}, {"microbatches", std::to_string(microbatches)}}, sources,
        context, diagnostics, {/*gradients=*/true});
    EXPECT_EQ(diagnostics.render(), "");
    if (!result.module)
      return outcome;
    if (cut)
      setStrategy(*result.module, {.microbatches = cut});
    mlir::PassManager manager(&context);
    manager.addPass(createCutMicrobatches());
    manager.addNestedPass<mlir::func::FuncOp>(createAccumulateGradients());
    manager.addNestedPass<mlir::func::FuncOp>(createAutodiff());
    EXPECT_TRUE(mlir::succeeded(manager.run(*result.module)));

    Interpreter interpreter;
    result.module->walk([&](VariableOp variable) {
      interpreter.variables[variable.getName().str()] =
          Tensor(llvm::cast<mlir::RankedTensorType>(variable.getType()).getShape());
    });
    interpreter.variables["run/seed"].values[0] = 5;
    interpreter.variables["run/total_steps"].values[0] = 10;
    auto init = result.module->lookupSymbol<mlir::func::FuncOp>("init");
    EXPECT_TRUE(mlir::succeeded(interpreter.run(init, {})));
    auto function = result.module->lookupSymbol<mlir::func::FuncOp>("step");
    auto outputs = interpreter.run(function, {input});
    EXPECT_TRUE(mlir::succeeded(outputs));
    if (mlir::failed(outputs))
      return outcome;
    for (auto [i, output] : llvm::enumerate(*outputs)) {
      std::string name = function.getResultAttrOfType<mlir::StringAttr>(i, "weir.output").str();
      if (auto term = function.getResultAttrOfType<mlir::IntegerAttr>(i, "weir.term"))
        name += " " + std::to_string(term.getInt()) + " " +
                function.getResultAttrOfType<mlir::StringAttr>(i, "weir.part").str();
      outcome.outputs[name] = output;
    }
    outcome.variables = interpreter.variables;
    return outcome;
  }

  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  SourceManager sources;
};

double norm(const Tensor &tensor) {
  double squares = 0;
  for (double value : tensor.values)
    squares += value * value;
  return std::sqrt(squares);
}

double distance(const Tensor &a, const Tensor &b) {
  EXPECT_EQ(a.shape, b.shape);
  Tensor difference = a;
  for (size_t i = 0; i < a.values.size(); ++i)
    difference.values[i] -= b.values[i];
  return norm(difference);
}

TEST_F(Accumulate, EverySplitOfABatchIsTheSameStep) {
  Tensor input = windows();
  Outcome whole = step(rows, 1, input);
  double largest = 0;
  int gradients = 0;
  for (auto &[name, tensor] : whole.outputs)
    if (llvm::StringRef(name).starts_with("gradient/")) {
      largest = std::max(largest, norm(tensor));
      ++gradients;
    }
  EXPECT_EQ(gradients, 13);
  EXPECT_GT(largest, 1e-2);
  // What is counted differs from row to row, and from term to term.
  double counted = whole.outputs.at("loss 0 count").values[0];
  EXPECT_LT(counted, rows * tokens);
  EXPECT_EQ(whole.outputs.at("loss 1 count").values[0], rows * tokens * 20);

  struct Split {
    int batch, microbatches, cut;
  };
  // By the recipe, by the pass, and by both.
  for (Split split : {Split{4, 4, 0}, {2, 8, 0}, {1, 16, 0}, {16, 1, 4}, {16, 1, 16}, {4, 4, 8}}) {
    SCOPED_TRACE(testing::Message()
                 << split.batch << " x " << split.microbatches << ", cut into " << split.cut);
    Outcome cut = step(split.batch, split.microbatches, input, split.cut);
    ASSERT_EQ(cut.outputs.size(), whole.outputs.size());
    for (auto &[name, tensor] : whole.outputs) {
      bool gradient = llvm::StringRef(name).starts_with("gradient/");
      double scale = std::max(norm(tensor), gradient ? 1e-3 * largest : 1e-3);
      EXPECT_LE(distance(cut.outputs.at(name), tensor), 1e-12 * scale) << name;
    }
    for (auto &[name, tensor] : whole.variables)
      if (llvm::StringRef(name).starts_with("adamw.m/")) {
        EXPECT_LE(distance(cut.variables.at(name), tensor),
                  1e-12 * std::max(norm(tensor), 1e-3 * largest))
            << name;
      }
  }
}

} // namespace
} // namespace weir
